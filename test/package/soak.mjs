// 2,500 runs against a provider that fails by lot, through the real openai client, in plain Node with a real collector.
// Prints how they ended and what is left of them. Each run draws its own faults, so a seed always gives the same ones.
import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import { AIError, AIObserver, createAIService, defineTool, openAI, ReadOnly } from 'inversify-ai';
import OpenAI from 'openai';

const [WARM, RUNS, AT_ONCE, SEED] = [500, 2_000, 50, 20_261_201];

/** Mulberry32: the same numbers for the same seed. */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const turn = (tool, n, answer = '') =>
  JSON.stringify({ tool, arguments: n === undefined ? [] : [{ name: 'n', value: n.toString() }], answer });

function completion(response, content, { finish = 'stop', ...message } = {}) {
  const choices = [{ index: 0, finish_reason: finish, message: { role: 'assistant', content, ...message } }];
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  json(response, 200, JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }));
}

function json(response, status, body, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

function cut(response) {
  response.writeHead(200, { 'content-length': '500' });
  response.write('{"id":', () => response.destroy());
}

const pay = (n) => turn('pay', n);
const native = { tool_calls: [{ id: 'x', type: 'function', function: { name: 'pay', arguments: '{"n":1}' } }] };
const FAULTS = [
  (response) => json(response, 503, '{}'),
  (response) => json(response, 400, '{"error":{"message":"SECRET"}}'),
  (response) => json(response, 429, '{}', { 'retry-after-ms': '1' }),
  (response) => response.destroy(),
  cut,
  () => undefined,
  (response) => response.writeHead(200).write('{'),
  (response) => json(response, 200, '<html>'),
  (response) => json(response, 200, '{"error":{"code":502}}'),
  (response) => completion(response, ''),
  (response) => completion(response, '{"tool":"pay"'),
  (response) => completion(response, pay(1) + pay(2)),
  (response) => completion(response, pay(1), { finish: 'length' }),
  (response) => completion(response, null, { finish: 'content_filter' }),
  (response) => completion(response, null, { refusal: 'No.' }),
  (response) => completion(response, pay(1), native),
  (response) => completion(response, turn('drop', 1)),
  (response) => completion(response, pay('all')),
  (response) => completion(response, turn('ANSWER', undefined, 'done')),
];

/** What each run draws from, by its question. */
const lots = new Map();
const server = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    const { messages, response_format: format } = JSON.parse(text);
    const draw = lots.get(messages.find(({ role }) => role === 'user').content.split('\n')[0]);
    if (draw === undefined) return response.destroy(); // its run is over
    const drawn = Math.floor(draw() * FAULTS.length * 2);
    const n = Math.floor(draw() * 6);
    const isLast = format.json_schema.schema.properties.tool.enum.length === 1;
    if (isLast && draw() < 0.5) completion(response, turn('ANSWER', undefined, 'done'));
    else if (drawn < FAULTS.length) FAULTS[drawn](response);
    else completion(response, drawn % 3 === 0 ? turn('find', n) : pay(n));
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');

const timesRun = new Map();
function body(n) {
  if (n === 2) throw new Error('boom');
  return n === 3 ? new Promise(() => undefined) : 'ok';
}
function counted({ n }, { runId, callId }) {
  for (const key of [`${runId} ${callId}`, `${runId} n=${n}`]) timesRun.set(key, (timesRun.get(key) ?? 0) + 1);
  return body(n);
}
const parameters = { n: { type: 'integer', description: 'A number' } };
const tools = [
  defineTool({ name: 'pay', description: 'Pays', timeoutMs: 5, parameters, execute: counted }),
  defineTool({
    name: 'find',
    description: 'Finds',
    group: ReadOnly,
    timeoutMs: 5,
    parameters,
    execute: ({ n }) => body(n),
  }),
];
const told = { runStarted: 0, runEnded: 0, toolStarted: 0, toolEnded: 0 };
class Counts extends AIObserver {}
for (const name of Object.keys(told)) Counts.prototype[name] = () => void told[name]++;

const client = new OpenAI({ apiKey: 'k', baseURL: `http://127.0.0.1:${server.address().port}/v1`, logLevel: 'off' });
const serviceWithin = (deadlineMs, timeoutMs) =>
  createAIService({
    model: openAI({ model: 'm', client, timeoutMs }),
    tools,
    observers: [new Counts()],
    retry: { minDelayMs: 0, maxDelayMs: 1, random: random(SEED) },
    limits: { deadlineMs, maxTurns: 9, maxTokens: 60, perTool: { pay: 4 } },
    logger: { warn: () => undefined, error: () => undefined },
  });
// Most have time enough on a machine that is busy with other things; some have next to none on any.
const [patient, hurried] = [serviceWithin(20_000, 200), serviceWithin(30, 20)];
const shared = new AbortController();
const ends = {};
const odd = [];

async function run(index) {
  const question = `q ${index}`;
  const draw = random(SEED + index);
  lots.set(question, draw);
  const own = new AbortController();
  const leaves = draw() < 0.1;
  const service = draw() < 0.1 ? hurried : patient;
  const timer = leaves && setTimeout(() => own.abort(new Error('left')), draw() * 20);
  let kind;
  try {
    kind = (await service.run(question, { signal: leaves ? own.signal : shared.signal })).stop;
  } catch (error) {
    if (error instanceof AIError) kind = error.code;
    else if (own.signal.aborted && error === own.signal.reason) kind = 'aborted';
    else odd.push(String(error));
  }
  clearTimeout(timer);
  lots.delete(question);
  ends[kind] = (ends[kind] ?? 0) + 1;
}

async function runAll(from, count) {
  for (let next = from; next < from + count; next += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => run(next + n)));
}

async function heapKiB() {
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed / 1024;
}

await runAll(0, WARM);
const oftenest = () => Math.max(...timesRun.values());
let most = oftenest();
timesRun.clear();
const before = await heapKiB();
await runAll(WARM, RUNS);
most = Math.max(most, oftenest());
timesRun.clear();
const grownKiB = (await heapKiB()) - before;
const listeners = getEventListeners(shared.signal, 'abort').length;
const closed = once(server, 'close');
server.close();
server.closeAllConnections();
await closed;
await new Promise((resolve) => setTimeout(resolve, 50));
// What is left now would hold the process: it must end by itself.
const handles = process.getActiveResourcesInfo().filter((kind) => !/^(TTY|Pipe|File)/.test(kind));
console.log(JSON.stringify({ ends, odd, told, most, grownKiB, listeners, handles }));
