import 'reflect-metadata';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ChatModel, modelFromEnv } from 'inversify-ai';

/** Loaded when chosen: each needs its own framework. */
const frameworks: Readonly<
  Record<string, () => Promise<{ start: (model: ChatModel, port: number) => Promise<Server> }>>
> = {
  express: () => import('./express.js'),
  fastify: () => import('./fastify.js'),
  hono: () => import('./hono.js'),
  'http-core': () => import('./http-core.js'),
};

const [name = 'express', port = '3000', ...rest] = process.argv.slice(2);
const load = Object.hasOwn(frameworks, name) ? frameworks[name] : undefined;
if (load === undefined || !/^\d{1,5}$/.test(port) || rest.length > 0) {
  console.error(`npm run sample:web -- [${Object.keys(frameworks).join('|')}] [port]`);
  process.exit(2);
}
const { start } = await load();
const server = await start(modelFromEnv(), Number(port));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port.toString()}/ask?question=Where+is+order+42%3F`;
console.log(`${name} listens on 127.0.0.1, until Ctrl-C. Ask as one or the other:`);
console.log(`curl -H 'x-user: alice' '${url}'`);
console.log(`curl -H 'x-user: bob' '${url}'`);
