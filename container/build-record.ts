import { isSite } from '../decorators/metadata.js';
import { SCOPE } from './current-scope.js';
import type { PlanBinding } from './plan.js';
import { ABOVE, type Rank } from './rank.js';

/** What distinguishes bindings of one identifier. */
export interface Asked {
  readonly name?: unknown;
  readonly tag?: { readonly key: unknown; readonly value: unknown } | undefined;
}

/** Whether something is bound by somebody, under this identifier, name and tag. */
export type IsBound = (id: unknown, asked: Asked | undefined) => boolean;

let absences = 0;
let above = 0;

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
  #isKnown = false;
  /** Whether something is absent here or below: once so, always; else as long as nothing new is absent anywhere. */
  #lacks = false;
  #lackedNothingAt = -1;

  /** @param rank whose it is */
  constructor(readonly rank: Rank) {
    if (rank === ABOVE) above++;
  }

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

  /** Whether all that the plan shows below it was looked at. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  know(): void {
    this.#isKnown = true;
  }

  /** Something else that is part of it. */
  addHeld(record: BuildRecord): void {
    if (record === this || this.#holds.has(record)) return;
    this.#holds.add(record);
    if (record.#isLacking()) absences++;
  }

  /** Something of the application's, which what a container above it keeps must not be built from. */
  addTaken(id: unknown): void {
    // An agent acts for no other application's scopes, whoever holds it.
    if (!isSite(id)) this.#taken.add(id);
  }

  /** What was absent here, or in what it holds, and is there now. */
  findAbsent(isThere: IsBound): unknown {
    if (!this.#isLacking()) return undefined;
    return this.#find((record) => record.#absent.find(({ id, asked }) => isThere(id, asked))?.id);
  }

  /** Looked up once for all that it holds: an application has thousands of parts, and most lack nothing. */
  #isLacking(): boolean {
    if (this.#lacks) return true;
    if (this.#lackedNothingAt === absences) return false;
    const seen = new Set<BuildRecord>();
    this.#lacks =
      this.#find(
        (record) => (record.#lacks ? true : record.#absent[0]),
        seen,
        (record) => record.#lackedNothingAt === absences,
      ) !== undefined;
    if (!this.#lacks) for (const record of seen) record.#lackedNothingAt = absences;
    return this.#lacks;
  }

  /** What is taken of one application's by something here that a container above keeps. */
  findTaken(): unknown {
    if (above === 0) return undefined;
    return this.#find((record) =>
      record.rank === ABOVE ? record.#find((part) => part.#taken.values().next().value) : undefined,
    );
  }

  /** Depth first, without recursion: a chain of parts may be longer than the stack is deep. */
  #find(
    look: (record: BuildRecord) => unknown,
    seen = new Set<BuildRecord>(),
    isDone: (record: BuildRecord) => boolean = () => false,
  ): unknown {
    const next: BuildRecord[] = [this];
    for (let record = next.pop(); record !== undefined; record = next.pop()) {
      if (seen.has(record) || isDone(record)) continue;
      seen.add(record);
      const found = look(record);
      if (found !== undefined) return found;
      next.push(...record.#holds);
    }
    return undefined;
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

/** What is bound no more needs none. */
export function forgetRecord({ id }: PlanBinding): void {
  records.delete(id);
}
