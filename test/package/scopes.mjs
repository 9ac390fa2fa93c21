// C24: opens many scopes in one process, with a real collector, and prints what is still alive of them, and how the heap grew.
import { getEventListeners } from 'node:events';
import 'reflect-metadata';
import { Container, decorate, inject, injectable } from 'inversify';
import { AI, AIObserver, AITool, installAI } from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';

const ROUNDS = 5_000;
const kept = [];
class Caller {}
class Watched {
  constructor(caller) {
    this.caller = caller;
    kept.push(new WeakRef(this));
  }
  who() {
    if (this.caller.id % 10 === 7) throw new Error('refused');
    return String(this.caller.id);
  }
}
AITool('Says who')(Watched.prototype, 'who', Object.getOwnPropertyDescriptor(Watched.prototype, 'who'));
decorate(injectable(), Watched);
decorate(inject(Caller), Watched, 0);
class Desk {
  constructor(agent) {
    this.agent = agent;
  }
}
AI({ tools: [Watched] })(Desk, undefined, 0);
decorate(injectable(), Desk);
class Silent extends AIObserver {}

const container = new Container();
container.bind(Watched).toSelf();
container.bind(Desk).toSelf();
container.bind(AIObserver).toConstantValue(new Silent());
const model = {
  name: 'script',
  profile: scriptedModel([]).profile,
  complete: async (request, options) => {
    await new Promise(setImmediate);
    const answered = request.messages.length > 2;
    return scriptedModel([answered ? text('done') : call('Watched_who')]).complete(request, options);
  },
};
const ai = installAI(container, { model, logger: { warn: () => undefined, error: () => undefined } });
const shared = new AbortController();

async function once(id) {
  const scope = ai.openScope((own) => own.bind(Caller).toConstantValue({ id }));
  const { agent } = scope.container.get(Desk);
  kept.push(new WeakRef(scope), new WeakRef(scope.container), new WeakRef(agent));
  const own = new AbortController();
  const asked = agent.chat('q', { signal: id % 10 === 0 ? own.signal : shared.signal }).catch(() => undefined);
  if (id % 20 === 0) own.abort(new Error('left'));
  await asked;
  if (id % 3 !== 0) await scope.close();
}

for (let next = 0; next < ROUNDS; next += 50) {
  await Promise.all(Array.from({ length: 50 }, (_, n) => once(next + n)));
  await new Promise(setImmediate);
}
for (let i = 0; i < 5; i++) {
  await new Promise((resolve) => setTimeout(resolve, 10));
  globalThis.gc();
}
const alive = kept.filter((reference) => reference.deref() !== undefined).length;

/** The heap after as many scopes, each with a controller and its agent, in KiB. */
async function heapAfter(scopes) {
  for (let next = 0; next < scopes; next += 50) {
    for (let n = 0; n < 50; n++) {
      const scope = ai.openScope((own) => own.bind(Caller).toConstantValue({ id: next + n }));
      scope.container.get(Desk);
      await scope.close();
    }
    await new Promise(setImmediate);
  }
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed / 1024;
}
const before = await heapAfter(1_000);
const heapKiB = (await heapAfter(10_000)) - before;
const listeners = getEventListeners(shared.signal, 'abort').length;
console.log(JSON.stringify({ watched: kept.length, alive, heapKiB, listeners }));
