import { AIScopeError } from '../lib/errors.js';

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

/** For a question that is still running when an adapter closes its scope. */
export function clientLeft(): AIScopeError {
  return new AIScopeError('The client left before the question was answered, so the question was aborted.');
}

export function responseEnded(): AIScopeError {
  return new AIScopeError(
    'The response ended before the question was answered, so the question was aborted. Await the answer before the response ends; for work that goes on after it, open a scope of its own, ai.runInScope(bind, fn).',
  );
}

export function closedError(): AIScopeError {
  return new AIScopeError(
    'The scope was closed before the question was answered, so the question was aborted. Await the answer inside the scope: return the promise of chat() from the function that runInScope runs.',
  );
}

export function endedError(what: string): AIScopeError {
  return new AIScopeError(
    `${what}: the scope has ended. Ask while its request is being answered, or open one: ai.runInScope(bind, fn).`,
  );
}

/** What to do about what inversify found; its own words follow. */
export function advice(message: string): string {
  if (message.startsWith('Ambiguous')) return 'keep one of several bindings';
  if (message.startsWith('Circular')) return 'take one of the classes out of the circle';
  return "bind what is missing, in the application, or for one caller in openScope's bind";
}
