/*
 * A language model of a hundred kilobytes, made in the test: a GGUF file (version 3, 32-bit floats) of the architecture
 * that llama.cpp knows best, with random weights from a seed. It follows no prompt. What matters is that a real decoder
 * samples from it, and that it can be made to want one word wherever it may be written.
 */

/** What a model is like. */
export interface Weights {
  readonly seed: number;
  /** Words that are one token each, read or written, as names of tools; every other text is spelt letter by letter. */
  readonly words: readonly string[];
  /** Pieces of JSON that are one token each, and likelier than a quotation mark: they spare a decoder most of its steps. */
  readonly pieces?: readonly string[];
  /** The word that is the likeliest at every step. */
  readonly wanted?: string;
  /** How much likelier: 1 still lets a text end, 30 never does. Default: 1.2. */
  readonly pull?: number;
  /** How much likelier than other letters a quotation mark is, which ends a text. Default: 0.9. */
  readonly brevity?: number;
}

const LAYERS = 1;
const WIDTH = 32;
const INNER = 64;
const HEADS = 4;
const CONTEXT = 4096;
/** The first entry of every embedding: a constant that a row of the output may read. */
const CONSTANT = 20;

export function makeModel({ seed, words, pieces = [], wanted, pull = 1.2, brevity = 0.9 }: Weights): Buffer {
  const vocabulary = vocabularyOf([...words, ...pieces, ...(wanted === undefined ? [] : [wanted])]);
  const { length } = vocabulary;
  const random = gaussian(seed);
  const matrix = (rows: number, columns: number, deviation = 1 / Math.sqrt(columns)): Tensor => ({
    shape: [columns, rows],
    values: Float32Array.from({ length: rows * columns }, () => random() * deviation),
  });
  const ones = (): Tensor => ({ shape: [WIDTH], values: new Float32Array(WIDTH).fill(1) });

  const embedding = matrix(length, WIDTH, 1);
  const output = matrix(length, WIDTH);
  for (let token = 0; token < length; token++) {
    embedding.values[token * WIDTH] = CONSTANT;
    output.values[token * WIDTH] = 0;
  }
  const favour = (text: string, strength: number): number => {
    const row = vocabulary.findIndex((token) => token.text === text) * WIDTH;
    output.values[row] = strength;
    return row;
  };
  favour('"', brevity);
  for (const piece of pieces) favour(piece, brevity + 0.25);
  // Of what it says nothing else speaks: it is wanted as much after any text as after any other.
  if (wanted !== undefined) {
    const row = favour(wanted, pull);
    output.values.fill(0, row + 1, row + WIDTH);
  }

  const tensors: Record<string, Tensor> = {
    'token_embd.weight': embedding,
    'output.weight': output,
    'output_norm.weight': ones(),
  };
  for (let layer = 0; layer < LAYERS; layer++) {
    const named = (name: string): string => `blk.${layer.toString()}.${name}.weight`;
    tensors[named('attn_norm')] = ones();
    tensors[named('ffn_norm')] = ones();
    for (const part of ['attn_q', 'attn_k', 'attn_v', 'attn_output']) tensors[named(part)] = matrix(WIDTH, WIDTH);
    tensors[named('ffn_gate')] = matrix(INNER, WIDTH);
    tensors[named('ffn_up')] = matrix(INNER, WIDTH);
    tensors[named('ffn_down')] = matrix(WIDTH, INNER);
  }
  return file(metadataOf(vocabulary), tensors);
}

/** A file with these keys, for what a loader says of a model that it does not know. */
export function makeFile(architecture: string): Buffer {
  return file([['general.architecture', text(architecture)]], {});
}

interface Tensor {
  /** The fastest dimension first. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

interface Token {
  readonly text: string;
  readonly kind: number;
  readonly score: number;
}

// The kinds of token that a tokenizer of SentencePiece has.
const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
/** Found in a text before it is taken apart. */
const WHOLE = 4;
const BYTE = 6;

function vocabularyOf(words: readonly string[]): readonly Token[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  const letters = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index));
  return [
    { text: '<unk>', kind: UNKNOWN, score: 0 },
    { text: '<s>', kind: CONTROL, score: 0 },
    { text: '</s>', kind: CONTROL, score: 0 },
    ...bytes.map((text) => ({ text, kind: BYTE, score: 0 })),
    // A space is written so in a vocabulary.
    ...letters.map((text, index) => ({ text: text === ' ' ? '\u2581' : text, kind: NORMAL, score: -100 - index })),
    ...[...new Set(words)].map((text) => ({ text, kind: WHOLE, score: 0 })),
  ];
}

type Entry = readonly [key: string, value: Buffer];

function metadataOf(vocabulary: readonly Token[]): readonly Entry[] {
  return [
    ['general.architecture', text('llama')],
    ['llama.context_length', count(CONTEXT)],
    ['llama.embedding_length', count(WIDTH)],
    ['llama.block_count', count(LAYERS)],
    ['llama.feed_forward_length', count(INNER)],
    ['llama.attention.head_count', count(HEADS)],
    ['llama.attention.layer_norm_rms_epsilon', float(1e-5)],
    ['llama.rope.dimension_count', count(WIDTH / HEADS)],
    ['tokenizer.ggml.model', text('llama')],
    ['tokenizer.ggml.tokens', list(vocabulary.map((token) => text(token.text)))],
    ['tokenizer.ggml.scores', list(vocabulary.map(({ score }) => float(score)))],
    ['tokenizer.ggml.token_type', list(vocabulary.map(({ kind }) => signed(kind)))],
    ['tokenizer.ggml.unknown_token_id', count(0)],
    ['tokenizer.ggml.bos_token_id', count(1)],
    ['tokenizer.ggml.eos_token_id', count(2)],
    ['tokenizer.ggml.add_bos_token', yes()],
  ];
}

const ALIGNMENT = 32;

/** Header, keys, the list of tensors, and their values, each at a multiple of the alignment. */
function file(metadata: readonly Entry[], tensors: Readonly<Record<string, Tensor>>): Buffer {
  const entries = Object.entries(tensors);
  const head = [Buffer.from('GGUF'), u32(3), u64(entries.length), u64(metadata.length)];
  for (const [key, value] of metadata) head.push(string(key), value);
  let offset = 0;
  for (const [name, { shape, values }] of entries) {
    head.push(string(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset));
    offset += aligned(values.byteLength);
  }
  const blocks = [Buffer.concat(head), ...entries.map(([, { values }]) => Buffer.from(values.buffer))];
  return Buffer.concat(blocks.flatMap((block) => [block, Buffer.alloc(aligned(block.length) - block.length)]));
}

const aligned = (size: number): number => Math.ceil(size / ALIGNMENT) * ALIGNMENT;

function bytes(size: number, write: (buffer: Buffer) => void): Buffer {
  const buffer = Buffer.alloc(size);
  write(buffer);
  return buffer;
}

const u32 = (value: number): Buffer => bytes(4, (buffer) => buffer.writeUInt32LE(value));
const u64 = (value: number): Buffer => bytes(8, (buffer) => buffer.writeBigUInt64LE(BigInt(value)));
const string = (value: string): Buffer => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);

// A value of a key: the number of its type, and what it is.
const count = (value: number): Buffer => Buffer.concat([u32(4), u32(value)]);
const signed = (value: number): Buffer => Buffer.concat([u32(5), bytes(4, (buffer) => buffer.writeInt32LE(value))]);
const float = (value: number): Buffer => Buffer.concat([u32(6), bytes(4, (buffer) => buffer.writeFloatLE(value))]);
const yes = (): Buffer => Buffer.concat([u32(7), Buffer.from([1])]);
const text = (value: string): Buffer => Buffer.concat([u32(8), string(value)]);
/** A list says the type of its values once. */
const list = (values: readonly Buffer[]): Buffer =>
  Buffer.concat([
    u32(9),
    (values[0] as Buffer).subarray(0, 4),
    u64(values.length),
    ...values.map((value) => value.subarray(4)),
  ]);

/** Numbers of the normal distribution, the same for the same seed: mulberry32, by Box and Muller's method. */
function gaussian(seed: number): () => number {
  let state = seed >>> 0;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
