import { fileParameter, parameterOf } from './member.js';

/** A parameter filled with the call's `ToolCallContext`: run and call id, signal, question, transcript, metadata. */
export function AIToolContext() {
  return (target: object, key: string | symbol | undefined, index: number): void => {
    const { where, method } = parameterOf('@AIToolContext', target, key, index);
    fileParameter(where, target, method, index, { from: 'call' });
  };
}
