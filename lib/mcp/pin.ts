import { createHash } from 'node:crypto';
import type { RemoteTool } from './mcp-client.js';

/** The parts of a tool that somebody accepted: what a model reads of it, and what decides its group. */
interface Parts {
  readonly description: string;
  readonly parameters: string;
  readonly annotations: string;
}

/** A tool as it was accepted. */
export interface Pin {
  readonly hash: string;
  /** Unknown of one that was given by its hash alone. */
  readonly parts?: Parts;
}

/**
 * The pin of a tool: SHA-256 over its name, its words, its parameters and, where they are believed, its annotations. The
 * order of keys and white space in words make no difference.
 */
export function pinOf(
  { name, description, inputSchema, annotations }: RemoteTool,
  trustAnnotations: boolean,
): Required<Pin> {
  const parts = {
    description: collapsed(description),
    parameters: canonicalJson(inputSchema),
    annotations: trustAnnotations ? canonicalJson(annotations) : '',
  };
  const hash = createHash('sha256')
    .update(JSON.stringify([name, parts.description, parts.parameters, parts.annotations]))
    .digest('hex');
  return { hash, parts };
}

/** What is not as it was accepted, in words. */
export function difference(
  accepted: Pin,
  now: Required<Pin>,
  { quotesAccepted }: { readonly quotesAccepted: boolean },
): string {
  const before = accepted.parts;
  if (before === undefined) return 'it is not what its pin was made of';
  const changed = (['description', 'parameters', 'annotations'] as const).filter(
    (part) => before[part] !== now.parts[part],
  );
  return changed
    .map(
      (part) =>
        `its ${part} changed${quotesAccepted ? `, from ${quoted(before[part])}` : ''} to ${quoted(now.parts[part])}`,
    )
    .join('; ');
}

const MAX_QUOTE = 300;

function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}…` : text);
}

/** JSON with its keys in one order, and words without their line breaks. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .filter(([, held]) => held !== undefined)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, held]) => {
        const text =
          key === 'description' && typeof held === 'string' ? JSON.stringify(collapsed(held)) : canonicalJson(held);
        return `${JSON.stringify(key)}:${text}`;
      })
      .join()}}`;
  return value === undefined ? 'null' : JSON.stringify(value);
}

function collapsed(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
