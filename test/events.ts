import {
  AIObserver,
  type ModelReplied,
  type ModelRetried,
  type RunEnded,
  type RunStarted,
  type ToolEnded,
  type ToolSourceChanged,
  type ToolStarted,
  type TurnStarted,
} from 'inversify-ai';

/** Keeps every event, in order. */
export class Events extends AIObserver {
  readonly started: ToolStarted[] = [];
  readonly ended: ToolEnded[] = [];
  /** All of them, each with its name. */
  readonly all: (readonly [name: string, event: object])[] = [];

  override runStarted(event: RunStarted): void {
    this.all.push(['runStarted', event]);
  }

  override turnStarted(event: TurnStarted): void {
    this.all.push(['turnStarted', event]);
  }

  override modelReplied(event: ModelReplied): void {
    this.all.push(['modelReplied', event]);
  }

  override modelRetried(event: ModelRetried): void {
    this.all.push(['modelRetried', event]);
  }

  override toolSourceChanged(event: ToolSourceChanged): void {
    this.all.push(['toolSourceChanged', event]);
  }

  override toolStarted(event: ToolStarted): void {
    this.started.push(event);
    this.all.push(['toolStarted', event]);
  }

  override toolEnded(event: ToolEnded): void {
    this.ended.push(event);
    this.all.push(['toolEnded', event]);
  }

  override runEnded(event: RunEnded): void {
    this.all.push(['runEnded', event]);
  }
}
