import { AIScopeError } from '../lib/errors.js';

/** Why a scope is over: somebody closed it, its response is complete, or its client has hung up. */
export type ScopeEnding = 'closed' | 'answered' | 'left';

/** Two applications in a process have callers of their own. */
export function refuseOtherApplication(
  what: string,
  scope: { readonly application: object },
  application: object,
): void {
  if (scope.application !== application)
    throw new AIScopeError(
      `${what}: the current scope belongs to another application; open one with this application's ai handle.`,
    );
}

const ABORTED: Readonly<Record<ScopeEnding, string>> = {
  closed:
    'The scope was closed before the question was answered, so the question was aborted. Await the answer inside the scope: return the promise of chat() from the function that runInScope runs.',
  answered:
    'The response ended before the question was answered, so the question was aborted. Await the answer before the response ends; for work that goes on after it, open a scope of its own, ai.runInScope(bind, fn).',
  left: 'The client left before the question was answered, so the question was aborted.',
};

const ENDED: Readonly<Record<ScopeEnding, string>> = {
  closed: 'Ask while its request is being answered, or open one: ai.runInScope(bind, fn).',
  answered: 'Its response is complete; for work that goes on after it, open one: ai.runInScope(bind, fn).',
  left: 'Its client has left, so there is nobody to answer.',
};

/** For a question that is still running when its scope closes. */
export function closedError(ending: ScopeEnding): AIScopeError {
  return new AIScopeError(ABORTED[ending]);
}

/** For what comes after the end. */
export function endedError(what: string, ending: ScopeEnding): AIScopeError {
  return new AIScopeError(`${what}: the scope has ended. ${ENDED[ending]}`);
}

/** Something that the scope binds itself could not be had. */
export function failedBindingError(name: string, error: unknown): AIScopeError {
  return new AIScopeError(
    `${name} is bound in the scope, and its binding failed, so there is nobody to act for; the error itself is the cause. Refuse the request where nobody is signed in, before the agent is asked.`,
    { cause: error },
  );
}

/** Something that the scope binds under a class is nothing. */
export function absentError(name: string, found: string): AIScopeError {
  return new AIScopeError(
    `${name} is bound in the scope, but gives ${found}, so there is nobody to act for. Refuse the request where nobody is signed in, before the agent is asked; bind what is read later as a dynamic value, container.bind(${name}).toDynamicValue(() => …).`,
  );
}

export function asyncBindError(): AIScopeError {
  return new AIScopeError(
    'The bind of a scope must be synchronous, and this one returned a promise. Await what it needs first, or bind a dynamic value, container.bind(Caller).toDynamicValue(async () => …), and resolve with getAsync.',
  );
}

/** What to do about what inversify found; its own words follow. */
export function advice(message: string): string {
  if (message.startsWith('Ambiguous')) return 'keep one of several bindings';
  if (message.startsWith('Circular')) return 'take one of the classes out of the circle';
  return 'bind what is missing: who is asking in the scope, in the bind of openScope, runInScope or aiScope, and only what all callers share in the application';
}
