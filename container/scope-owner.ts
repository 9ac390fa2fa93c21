import type { BindingScope, ServiceIdentifier } from 'inversify';
import type { AILogger } from '../lib/logger.js';
import type { Inspections } from './inspections.js';
import type { LongLived } from './long-lived.js';
import type { PlanBinding } from './plan.js';

/** What a scope takes from the application that opens it. */
export interface ScopeOwner {
  /** What `bind` means where nothing is said, in the application and so in its scopes. */
  readonly defaultScope: BindingScope;
  /** Whether a class that nobody bound is bound when it is asked for. */
  readonly autobinds: boolean;
  /** The condition of a binding for which nobody gave one. */
  readonly unconditional: unknown;
  readonly longLived: LongLived;
  readonly inspections: Inspections;
  readonly logger: AILogger;
  /** Whether somebody bound it in the application or above. */
  isBound(token: ServiceIdentifier): boolean;
  isAutobound(binding: PlanBinding): boolean;
  isOfApplication(binding: PlanBinding): boolean;
}

/** Waits at each step of a scope's runs, and sees what goes to the model and comes from it. */
export interface ScopeWatcher {
  readonly step: (what: string) => Promise<void>;
  readonly see: (where: string, what: unknown) => void;
}
