import { isSite } from '../decorators/metadata.js';
import { SCOPE } from './current-scope.js';
import type { PlanBinding } from './plan.js';
import type { Rank } from './rank.js';

/** What distinguishes bindings of one identifier. */
export interface Asked {
  readonly name?: unknown;
  readonly tag?: { readonly key: unknown; readonly value: unknown } | undefined;
}

/** Whether something is bound by somebody, under this identifier, name and tag. */
export type IsBound = (id: unknown, asked: Asked | undefined) => boolean;

let absences = 0;

/** How often something was absent so far: more than before means that something asynchronous asked meanwhile. */
export function countAbsences(): number {
  return absences;
}

/** What something asked for, could do without, and did not find; and what it is built from that matters to others. */
export class BuildRecord {
  readonly #absent: { readonly id: unknown; readonly asked: Asked | undefined }[] = [];
  readonly #taken = new Set<unknown>();
  readonly #holds = new Set<BuildRecord>();
  #isBuilding = false;

  /** @param rank whose it is */
  constructor(readonly rank: Rank) {}

  addAbsent(id: unknown, asked?: Asked): void {
    // Every site asks for it; an agent without a scope of its own follows the current one.
    if (id === SCOPE || this.#absent.some((known) => known.id === id && isSame(known.asked, asked))) return;
    this.#absent.push({ id, asked });
    absences++;
  }

  get isBuilding(): boolean {
    return this.#isBuilding;
  }

  begin(): void {
    this.#isBuilding = true;
  }

  end(): void {
    this.#isBuilding = false;
  }

  /** Something else that is part of it. */
  addHeld(record: BuildRecord): void {
    if (record !== this) this.#holds.add(record);
  }

  /** Something of one application's, in what a container above it keeps. */
  addTaken(id: unknown): void {
    // An agent acts for no other application's scopes, whoever holds it.
    if (!isSite(id)) this.#taken.add(id);
  }

  /** What was absent here, or in what it holds, and is there now. */
  findAbsent(isThere: IsBound): unknown {
    return this.#find((record) => record.#absent.find(({ id, asked }) => isThere(id, asked))?.id);
  }

  findTaken(): unknown {
    return this.#find((record) => record.#taken.values().next().value);
  }

  #find(look: (record: BuildRecord) => unknown, seen = new Set<BuildRecord>()): unknown {
    if (seen.has(this)) return undefined;
    seen.add(this);
    let found = look(this);
    for (const held of this.#holds) found ??= held.#find(look, seen);
    return found;
  }
}

function isSame(a: Asked | undefined, b: Asked | undefined): boolean {
  return a?.name === b?.name && a?.tag?.key === b?.tag?.key && a?.tag?.value === b?.tag?.value;
}

// By the number that inversify gives each binding of the process: what is kept above two applications is the same to
// both, and a snapshot that is restored brings copies.
const records = new Map<number, BuildRecord>();

/** The record of something long-lived. */
export function recordOf({ id }: PlanBinding, rank: () => Rank): BuildRecord {
  let record = records.get(id);
  if (record === undefined) records.set(id, (record = new BuildRecord(rank())));
  return record;
}
