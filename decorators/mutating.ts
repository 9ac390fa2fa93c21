import { MUTATING } from '../lib/tool/group.js';
import { makeGroup } from './ai-tool-group.js';

/** Marks tools that may change something. A tool without a mark counts as one too; this says that it was thought of. */
export const Mutating = makeGroup(MUTATING);
