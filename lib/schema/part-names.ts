/** Names for what is written once and referred to, as `#/$defs/Line` or in a list of tools: letters, digits, _ and -. */
export class PartNames {
  readonly #taken = new Set<string>();

  /** The wanted name as far as it may stand there, or one like it that nothing else has. */
  take(wanted: unknown): string {
    const name = legal(wanted);
    let free = name;
    for (let n = 2; this.#taken.has(free); n++) free = `${name}${n.toString()}`;
    this.#taken.add(free);
    return free;
  }
}

/** As an object's key it would be its prototype. */
const UNSAFE: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
const MAX_NAME = 60;

/** A class may have no name, or a static property in its place. */
function legal(wanted: unknown): string {
  const name = typeof wanted === 'string' ? wanted.slice(0, MAX_NAME).replace(/[^A-Za-z0-9_-]/g, '_') : '';
  return name === '' || UNSAFE.has(name) ? 'Part' : name;
}
