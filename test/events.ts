import { AIObserver, type ToolEnded, type ToolStarted } from 'inversify-ai';

/** Keeps every event, in order. */
export class Events extends AIObserver {
  readonly started: ToolStarted[] = [];
  readonly ended: ToolEnded[] = [];

  override toolStarted(event: ToolStarted): void {
    this.started.push(event);
  }

  override toolEnded(event: ToolEnded): void {
    this.ended.push(event);
  }
}
