import { parameterOf } from './member.js';
import { setParameter } from './metadata.js';

/** A parameter filled with the call's `ToolCallContext`: run and call id, signal, question, transcript, metadata. */
export function AIToolContext() {
  return (target: object, key: string | symbol | undefined, index: number): void => {
    const { method } = parameterOf('@AIToolContext', target, key, index);
    setParameter(target, method, index, { from: 'call' });
  };
}
