import { READ_ONLY } from '../lib/tool/group.js';
import { makeGroup } from './ai-tool-group.js';

/** Marks tools that only look: the same call may be made again. */
export const ReadOnly = makeGroup(READ_ONLY);
