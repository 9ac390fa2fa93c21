/** Enums of another file: a compiler that sees one file at a time does not know of what type their values are. */
export enum Status {
  Open = 'OPEN',
  Closed = 'CLOSED',
}
export enum Level {
  Low,
  High,
}
