/*
 * How what stands in a `tools` list is known for what it is, whichever copy of the package made it, by whoever may not
 * read it: a decorator.
 */

/** Bears what a toolset was made of. */
export const TOOLSET_PLAN: unique symbol = Symbol.for('inversify-ai/toolset');

/** Marks tools that are known when a run begins, and not before. */
export const LATE_TOOLS: unique symbol = Symbol.for('inversify-ai/late-tools');

/** Whether an object is one of the things that may stand in any `tools` list. */
export function isToolSource(value: object): boolean {
  return TOOLSET_PLAN in value || LATE_TOOLS in value || 'execute' in value;
}

/** Whether a text may be the key of a tool in the registry: `lookup`, `lookup@crm`. */
export function isRegistryKey(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}(@[A-Za-z0-9_-]{1,60})?$/.test(text);
}

/** What to write where a text is none. */
export function noRegistryKey(where: string, text: string): string {
  return `${where}: ${JSON.stringify(text.slice(0, 80))} is no key of the registry; write 'lookup@crm', or 'lookup' for a tool without a module`;
}
