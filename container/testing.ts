/// <reference types="node" preserve="true" />
/** `inversify-ai/testing`: models on a script, and checks of an application that uses this library. */
export * from '../lib/testing/index.js';
export { exposedTools } from './exposed-tools.js';
export { twoCallers, type AskingCaller, type TwoCallersOptions } from './two-callers.js';
