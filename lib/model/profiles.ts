import { deepFreeze, describeKind, isObject, shortly, unknownOptions } from '../declaration.js';
import { WIRE_NAMES } from '../wire-name.js';
import type { ModelProfile, WireName } from './chat-model.js';

/** What a server behind `openAI` is known to do. */
export interface OpenAIProfile extends ModelProfile {
  /** The field that `settings.maxOutputTokens` is sent in. Default: `max_tokens`. */
  readonly maxTokensField?: 'max_completion_tokens' | 'max_tokens';
  /** Sent with every request, beside what is sent anyway and over it. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
}

const ALL = ['union', 'envelope', 'native'] as const;
const FLAT = ['envelope', 'native'] as const;

/*
 * A snapshot of what vendors' pages and issue threads said in February 2026. A server that has been seen to let a schema
 * through without enforcing it counts as one that accepts it; a union is only asked of those that say they take one.
 */
const PROFILES = deepFreeze({
  openai: { schema: 'enforced', wires: ALL, maxTokensField: 'max_completion_tokens' },
  azure: { schema: 'enforced', wires: ALL, maxTokensField: 'max_completion_tokens' },
  gemini: { schema: 'enforced', wires: ALL },
  xai: { schema: 'enforced', wires: ALL },
  ollama: { schema: 'enforced', wires: FLAT },
  vllm: { schema: 'enforced', wires: FLAT },
  'lm-studio': { schema: 'enforced', wires: FLAT },
  'llama.cpp': { schema: 'accepted', wires: ALL },
  'ollama-cloud': { schema: 'accepted', wires: FLAT },
  groq: { schema: 'accepted', wires: FLAT },
  mistral: { schema: 'accepted', wires: FLAT },
  openrouter: { schema: 'accepted', wires: FLAT, extraBody: { provider: { require_parameters: true } } },
  // Its OpenAI route takes no notice of response_format.
  anthropic: { schema: 'accepted', wires: ['native', 'envelope'], prefers: 'native' },
  // Answers 400 to a schema.
  deepseek: { schema: 'none', wires: ['native', 'envelope'], prefers: 'native' },
  /** Any other. */
  compatible: { schema: 'accepted', wires: FLAT },
} as const satisfies Readonly<Record<string, OpenAIProfile>>);

/** The servers that have a profile here. */
export type OpenAIProfileName = keyof typeof PROFILES;

const HOSTS: readonly (readonly [pattern: RegExp, name: OpenAIProfileName])[] = [
  [/^api\.openai\.com$/, 'openai'],
  [/\.(openai|services\.ai)\.azure\.com$/, 'azure'],
  [/^generativelanguage\.googleapis\.com$/, 'gemini'],
  [/^api\.x\.ai$/, 'xai'],
  [/^ollama\.com$/, 'ollama-cloud'],
  [/^api\.groq\.com$/, 'groq'],
  [/^api\.mistral\.ai$/, 'mistral'],
  [/^openrouter\.ai$/, 'openrouter'],
  [/^api\.anthropic\.com$/, 'anthropic'],
  [/^api\.deepseek\.com$/, 'deepseek'],
];

/** The profile that was asked for, else what the host is known for, else the least that a compatible server does. */
export function profileFor(
  asked: OpenAIProfileName | OpenAIProfile | undefined,
  host: string | undefined,
): OpenAIProfile {
  if (typeof asked === 'object') return Object.freeze({ ...asked, wires: Object.freeze([...asked.wires]) });
  const known = host === undefined ? undefined : HOSTS.find(([pattern]) => pattern.test(host.replace(/:\d+$/, '')));
  return PROFILES[asked ?? known?.[1] ?? 'compatible'];
}

const KEYS = ['schema', 'wires', 'prefers', 'maxTokensField', 'extraBody'];

/** One line for each thing that is wrong with a profile. */
export function profileProblems(profile: unknown): string[] {
  const at = 'openAI, profile';
  if (profile === undefined) return [];
  if (typeof profile === 'string')
    return Object.hasOwn(PROFILES, profile)
      ? []
      : [
          `${at}: there is none called '${profile}'; take one of ${Object.keys(PROFILES).join(', ')}, or write { schema, wires }`,
        ];
  const problems = unknownOptions(at, profile, KEYS);
  if (!isObject(profile)) return problems;
  const { schema, wires, prefers, maxTokensField, extraBody } = profile;
  if (!['enforced', 'accepted', 'none'].includes(schema as string))
    problems.push(`${at}: schema must be 'enforced', 'accepted' or 'none'; found ${shortly(schema)}`);
  const list: readonly unknown[] = Array.isArray(wires) ? wires : [];
  if (list.length === 0 || !list.every((wire) => WIRE_NAMES.includes(wire as WireName)))
    problems.push(
      `${at}: wires must list some of ${WIRE_NAMES.join(', ')}; found ${Array.isArray(wires) ? wires.map(shortly).join(', ') || 'an empty list' : describeKind(wires)}`,
    );
  else if (prefers !== undefined && !list.includes(prefers))
    problems.push(`${at}: prefers must be one of its wires, ${list.join(', ')}; found ${shortly(prefers)}`);
  if (maxTokensField !== undefined && !['max_completion_tokens', 'max_tokens'].includes(maxTokensField as string))
    problems.push(
      `${at}: maxTokensField must be 'max_completion_tokens' or 'max_tokens'; found ${shortly(maxTokensField)}`,
    );
  if (extraBody !== undefined && !isObject(extraBody))
    problems.push(`${at}: extraBody must be an object that is sent along; found ${describeKind(extraBody)}`);
  return problems;
}
