/// <reference types="node" preserve="true" />
/** `inversify-ai/tools`: tools that many applications want. None is registered, or offered, by itself. */
export { httpGet } from './http-get.js';
export type { HttpGetOptions } from './http-get-options.js';
export { now, type NowOptions } from './now.js';
