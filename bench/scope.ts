/**
 * What a scope costs: open it, resolve a controller with one agent, close it. Beside it, in the same run, the same with a
 * bare child container of inversify's, which has neither guard nor agent. `npm run bench:scope`
 */
import 'reflect-metadata';
import { Container, inject, injectable } from 'inversify';
import { AI, AIService, AITool, installAI, ReadOnly } from 'inversify-ai';
import { scriptedModel } from 'inversify-ai/testing';

abstract class Caller {
  abstract readonly id: string;
}

@injectable()
class OrderService {
  constructor(@inject(Caller) readonly caller: Caller) {}
}

@injectable()
class OrderTools {
  constructor(@inject(OrderService) private readonly orders: OrderService) {}

  @ReadOnly
  @AITool('Tells who is asking')
  whoAmI(): string {
    return this.orders.caller.id;
  }
}

@injectable()
class Controller {
  constructor(
    @inject(OrderService) readonly orders: OrderService,
    @AI({ tools: [OrderTools] }) readonly agent: AIService,
  ) {}
}

@injectable()
class BareController {
  constructor(
    @inject(OrderService) readonly orders: OrderService,
    @inject(OrderTools) readonly tools: OrderTools,
  ) {}
}

const container = new Container();
for (const service of [OrderService, OrderTools, Controller, BareController]) container.bind<object>(service).toSelf();
const ai = installAI(container, { model: scriptedModel([]) });
const caller = { id: 'alice' };
const bind = (own: Container): void => {
  own.bind(Caller).toConstantValue(caller);
};

const rows: Readonly<Record<string, () => Promise<void>>> = {
  'bare child container, controller, unbindAll': async () => {
    const child = new Container({ parent: container });
    bind(child);
    child.get(BareController);
    await child.unbindAllAsync();
  },
  'scope, opened and closed': async () => {
    await ai.openScope(bind).close();
  },
  'scope, controller with an agent, closed': async () => {
    const scope = ai.openScope(bind);
    scope.container.get(Controller);
    await scope.close();
  },
};

const ROUNDS = 60;
/** Requests in one turn of the event loop, and turns in one measurement. */
const BATCH = 50;
const BATCHES = 10;

/** Microseconds for one. */
async function measure(once: () => Promise<void>): Promise<number> {
  const begun = process.hrtime.bigint();
  for (let batch = 0; batch < BATCHES; batch++) {
    for (let request = 0; request < BATCH; request++) await once();
    await new Promise(setImmediate);
  }
  return Number(process.hrtime.bigint() - begun) / 1000 / BATCH / BATCHES;
}

const times = new Map(Object.keys(rows).map((name) => [name, [] as number[]]));
for (let round = -5; round < ROUNDS; round++)
  for (const [name, once] of Object.entries(rows)) {
    const time = await measure(once);
    if (round >= 0) times.get(name)?.push(time);
  }
console.log(`Node ${process.version}, ${ROUNDS.toString()} rounds, interleaved; microseconds for one`);
console.log('median  10th percentile');
for (const [name, measured] of times) {
  measured.sort((a, b) => a - b);
  const at = (share: number): string => (measured[Math.floor(measured.length * share)] ?? 0).toFixed(1).padStart(6);
  console.log(`${at(0.5)}  ${at(0.1).padEnd(15)}  ${name}`);
}

/** Kilobytes in use after as many scopes. */
async function heapAfter(scopes: number): Promise<number> {
  for (let opened = 0; opened < scopes; opened += BATCH) {
    for (let request = 0; request < BATCH; request++) await rows['scope, controller with an agent, closed']?.();
    await new Promise(setImmediate);
  }
  const collect = (globalThis as { gc?: () => void }).gc;
  for (let i = 0; i < 4; i++) {
    await new Promise(setImmediate);
    collect?.();
  }
  return process.memoryUsage().heapUsed / 1024;
}
const before = await heapAfter(1_000);
const after = await heapAfter(10_000);
console.log(`heap after 10,000 more scopes: ${(after - before).toFixed(0)} KiB more`);
