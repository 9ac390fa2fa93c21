/** Where the library reports what nobody awaits: a failed tool, an observer that threw. */
export interface AILogger {
  warn(message: string, error?: unknown): void;
  error(message: string, error?: unknown): void;
}

/** The default: the console, with the error beside the message. */
export const consoleLogger: AILogger = {
  warn: (message, error) => {
    if (error === undefined) console.warn(message);
    else console.warn(message, error);
  },
  error: (message, error) => {
    if (error === undefined) console.error(message);
    else console.error(message, error);
  },
};

/** What is wrong with a logger that an application passes. */
export function loggerProblems(where: string, logger: unknown): string[] {
  if (logger === undefined) return [];
  const { warn, error } = (logger ?? {}) as Readonly<Record<string, unknown>>;
  return typeof warn === 'function' && typeof error === 'function'
    ? []
    : [`${where}: logger must have two functions, { warn(message, error), error(message, error) }`];
}

/** The same logger, but one that cannot end what it reports on: neither by throwing nor by rejecting later. */
export function guarded(logger: AILogger): AILogger {
  const quietly = (level: 'warn' | 'error', message: string, error: unknown): void => {
    const report = async (): Promise<void> => {
      // One that is asynchronous says `void` and gives a promise.
      const methods = logger as { readonly [L in typeof level]: (message: string, error: unknown) => unknown };
      await methods[level](message, error);
    };
    report().catch(() => undefined);
  };
  return {
    warn: (message, error) => {
      quietly('warn', message, error);
    },
    error: (message, error) => {
      quietly('error', message, error);
    },
  };
}
