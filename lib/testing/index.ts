/// <reference types="node" preserve="true" />
/** Tools for tests of applications: nothing here is a language model. */
export { scriptedModel, type ScriptedModel, type ScriptedRequest, type ScriptedTurn } from './scripted-model.js';
export { toolContract, type ToolContractExamples } from './tool-contract.js';
export { call, calls, filtered, httpError, never, refusal, text, truncated } from './turns.js';
