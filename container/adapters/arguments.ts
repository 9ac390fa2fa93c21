import { describeKind, throwProblems } from '../../lib/declaration.js';
import { AIDefinitionError } from '../../lib/errors.js';

/** Both are asked for at each request; what is wrong must show when the application is wired. */
export function refuseOptions(where: string, ai: unknown, bind: unknown): void {
  const problems: string[] = [];
  if (typeof (ai as { openScope?: unknown } | undefined)?.openScope !== 'function')
    problems.push(`${where}: the first argument must be what installAI returned; found ${describeKind(ai)}`);
  if (typeof bind !== 'function')
    problems.push(
      `${where}: the second argument must be a function, (container, request) => { container.bind(Caller)… }; found ${describeKind(bind)}`,
    );
  throwProblems(problems);
}

/** One framework's adapter handed to another, which types tell apart and JavaScript does not. */
export function refuseHost(what: string, isItsOwn: boolean): void {
  if (!isItsOwn) throw new AIDefinitionError(`${what}; found another framework. Each has its own entry point.`);
}
