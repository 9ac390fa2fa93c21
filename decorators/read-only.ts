import { READ_ONLY } from '../lib/tool/group.js';
import { makeGroup } from './ai-tool-group.js';

/** Marks tools that only look: they may be repeated, and run beside each other. */
export const ReadOnly = makeGroup(READ_ONLY);
