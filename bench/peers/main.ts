/**
 * The speed of this library beside a loop written by hand and beside what somebody would take in its place, in one process
 * and in turns, on a scripted server: no network, no key. Prints a table and writes bench/results.json. Fails where a
 * library does not make the calls that it was told to make. `npm run bench`
 */
import { aiSdk } from './ai-sdk.js';
import { floor } from './floor.js';
import { heapKiB } from './heap.js';
import { installPeers } from './install.js';
import { langchain } from './langchain.js';
import { titleOf } from './library.js';
import { measure } from './measure.js';
import { openaiAgents } from './openai-agents.js';
import { ours } from './ours.js';
import { resultsOf, writeResults } from './results.js';
import { runTools } from './run-tools.js';
import { resultTable } from './table.js';
import { targets } from './targets.js';

const OURS = (['envelope', 'union', 'native'] as const).map(ours);
const LIBRARIES = [floor, ...OURS, runTools, aiSdk, openaiAgents, langchain];

installPeers();
// Some libraries would report to their makers.
Object.assign(process.env, { OPENAI_AGENTS_DISABLE_TRACING: '1', LANGCHAIN_TRACING_V2: 'false' });
console.log(`Node ${process.version}, in turns: ${LIBRARIES.map(titleOf).join('; ')}`);
const heap = heapKiB();
const measured = await measure(LIBRARIES, { warmUp: 60, rounds: 30, batch: 12, limitMs: 90_000 });
const results = resultsOf(measured, heap);
writeResults(results);

console.log('\nmedian (10th percentile); import and MiB of ours are beyond inversify and without its peers\n');
console.log(resultTable(results.rows));
const { importMs, installedMiB } = results.withPeers;
console.log(
  `\ninversify-ai with inversify, reflect-metadata and openai: ${importMs.toFixed(0)} ms, ${installedMiB.toFixed(2)} MiB`,
);
for (const [what, size] of Object.entries(heap)) console.log(`heap held by one open ${what}: ${size} KiB`);
console.log('');
for (const { text, isMet } of targets(results)) console.log(`${isMet ? 'met' : 'MISSED'}: ${text}`);
