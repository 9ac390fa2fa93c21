import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { transformFile } from '@swc/core';
// tsx brings it.
import { build } from 'esbuild';
import { readmeBlocks } from '../readme.js';

jest.setTimeout(60_000);

/* One source, test/package/compilers, is compiled by each of these, and its report.ts run against the built library. */

/** They say of a parameter what they know of its type. */
const TELLING = ['tsc', 'swc', 'vite'] as const;
/** They say nothing; vite does as tsconfig.json says. */
const SILENT = ['esbuild', 'tsx', 'vite without emitDecoratorMetadata'] as const;
const BUILDS = [...TELLING, ...SILENT];
type Build = (typeof BUILDS)[number];

/** What became of one class of tools: it was refused, it could not even be loaded, or it was called. */
interface Outcome {
  readonly error?: string;
  readonly notLoaded?: string;
  /** All that the model was sent. */
  readonly request?: string;
  /** What `describe()` says. */
  readonly description?: { readonly sites: readonly { readonly tools: readonly { readonly parameters: object }[] }[] };
  readonly calls?: readonly (readonly [outcome: string, result: string])[];
  /** What the methods were called with, with types. */
  readonly reached?: readonly (readonly unknown[])[];
}

const reports = new Map<Build, Readonly<Record<string, Outcome>>>();

function outcomeOf(compiler: Build, name: string): Outcome {
  const outcome = reports.get(compiler)?.[name];
  if (outcome === undefined) throw new Error(`${compiler} reports nothing of ${name}.`);
  return outcome;
}

const PEERS = [
  ...['inversify', 'reflect-metadata', '@inversifyjs/plugin', 'class-transformer', 'class-validator', 'zod'],
  ...['@types/node', 'undici-types', 'tsx', 'vite'],
];
const TSC = resolve('node_modules/typescript/bin/tsc');

/** An empty project with the built library in it. */
let project: string;

const run = promisify(execFile);
const node = (args: readonly string[], folder = project): Promise<string> =>
  run(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '', TSX_DISABLE_CACHE: '1' },
  }).then(
    ({ stdout }) => stdout,
    // What a compiler says is on its standard output.
    (error: unknown) =>
      Promise.reject(new Error(`${String(error)}\n${String((error as { stdout?: unknown }).stdout)}`)),
  );

/** The sources, to be compiled or run there, with the README's tsconfig.json. */
function sources(name: string, options: object = {}): string {
  const folder = join(project, name);
  cpSync('test/package/compilers', folder, { recursive: true });
  const { compilerOptions } = JSON.parse(readmeBlocks('json').find((block) => block.includes('compilerOptions'))!) as {
    compilerOptions: object;
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compilerOptions, ...options } }));
  return folder;
}

const typescriptIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));

/** How each compiles the sources and runs the report, whose output it gives. */
const REPORTING: Readonly<Record<Build, () => Promise<string>>> = {
  tsc: async () => {
    const folder = sources('tsc');
    await node([TSC, '-p', folder]);
    return node(['report.js'], folder);
  },
  swc: async () => {
    const folder = sources('swc');
    for (const file of typescriptIn(folder)) {
      const { code } = await transformFile(file, {
        swcrc: false,
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          target: 'es2022',
        },
      });
      writeFileSync(file.replace(/\.ts$/, '.js'), code);
    }
    return node(['report.js'], folder);
  },
  esbuild: async () => {
    const folder = sources('esbuild');
    await build({
      entryPoints: typescriptIn(folder),
      outdir: folder,
      format: 'esm',
      tsconfig: join(folder, 'tsconfig.json'),
    });
    return node(['report.js'], folder);
  },
  tsx: () => node(['--import', 'tsx', 'report.ts'], sources('tsx')),
  vite: () => node(['vite.mjs'], sources('vite')),
  'vite without emitDecoratorMetadata': () =>
    node(['vite.mjs'], sources('vite-silent', { emitDecoratorMetadata: false })),
};

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'compilers-'));
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
  for (const peer of PEERS) {
    mkdirSync(dirname(join(project, 'node_modules', peer)), { recursive: true });
    symlinkSync(resolve('node_modules', peer), join(project, 'node_modules', peer));
  }
  const library = join(project, 'node_modules/inversify-ai');
  mkdirSync(library);
  cpSync('package.json', join(library, 'package.json'));
  await node([TSC, '-p', 'tsconfig.build.json', '--outDir', join(library, 'dist')], resolve('.'));
  await Promise.all(
    BUILDS.map(async (compiler) => {
      reports.set(compiler, JSON.parse(await REPORTING[compiler]()) as Record<string, Outcome>);
    }),
  );
});

afterAll(() => {
  rmSync(project, { recursive: true, force: true });
});

/** The lines about the tools that the model reads. */
function toolLines({ request, error }: Outcome): readonly string[] {
  // The error is what there is to see where there should be none.
  if (request === undefined) return [`error: ${String(error)}`];
  const { messages } = JSON.parse(request) as { messages: { content: string }[] };
  return messages[0]!.content.split('\n').filter((line) => line.startsWith('- '));
}

/** The schemas of the arguments. */
function parametersOf({ description }: Outcome): readonly object[] {
  return (description?.sites ?? []).flatMap(({ tools }) => tools.map(({ parameters }) => parameters));
}

const LINE = {
  quantity: 'number 2',
  due: 'Date 2026-03-01T09:00:00.000Z',
  level: 'number 1',
  note: 'string red',
  tags: { Array: ['string a'] },
};
const LINE_WORDS =
  'object { quantity: integer of at least 1, due: date or date-time with offset, level: "Low" | "High", note?: string, tags?: array of string }';
const ABSENT = { last: 'undefined', orders: 'undefined' };
const ORDER = {
  OrderDto: {
    id: 'number 7',
    customer: {
      CustomerDto: {
        name: 'string alice',
        last: { OrderDto: { id: 'number 6', customer: { CustomerDto: { name: 'string alice', ...ABSENT } } } },
        orders: 'undefined',
      },
    },
  },
};
const CUSTOMER = { CustomerDto: { name: 'string alice', last: 'undefined', orders: { Array: [ORDER] } } };
const ORDER_WORDS =
  'JSON OrderDto, which is object { id: integer, customer: object { name: string, last?: OrderDto, orders?: array of OrderDto } }';
const CUSTOMER_WORDS =
  'JSON CustomerDto, which is object { name: string, last?: OrderDto, which is object { id: integer, customer: CustomerDto }, orders?: array of OrderDto }';

interface Expected {
  readonly lines: readonly string[];
  readonly outcomes: readonly string[];
  readonly reached: readonly (readonly unknown[])[];
}

const EXPLICIT: Readonly<Record<string, Expected>> = {
  ExplicitFind: {
    lines: ['- ExplicitFind_find(id: integer "The order id") -> Finds an order'],
    outcomes: ['ok', 'ok', 'invalid-arguments'],
    reached: [['number 42'], ['number 43']],
  },
  ExplicitWhen: {
    lines: ['- ExplicitWhen_when(d: date or date-time with offset "The moment") -> Sets the day'],
    outcomes: ['ok', 'invalid-arguments'],
    reached: [['Date 2026-03-01T10:00:00.000Z']],
  },
  ExplicitOpt: {
    lines: ['- ExplicitOpt_opt(x: string | null "The note") -> Sets the note'],
    outcomes: ['ok', 'ok', 'ok'],
    reached: [['string gift'], ['null'], ['string 7']],
  },
  ExplicitIface: {
    lines: [
      '- ExplicitIface_iface(f: JSON object { colour: string, size?: integer } "The filter") -> Filters the catalog',
    ],
    outcomes: ['ok', 'ok', 'invalid-arguments'],
    reached: [[{ Object: { colour: 'string red', size: 'number 3' } }], [{ Object: { colour: 'string red' } }]],
  },
  ExplicitArr: {
    lines: [`- ExplicitArr_arr(xs: JSON array of ${LINE_WORDS} "The lines") -> Adds lines`],
    outcomes: ['ok', 'invalid-arguments'],
    reached: [[{ Array: [{ LineDto: LINE }, { LineDto: { ...LINE, note: 'undefined', tags: 'undefined' } }] }]],
  },
  ExplicitOrder: {
    lines: [`- ExplicitOrder_order(order: ${ORDER_WORDS} "The order") -> Places an order`],
    outcomes: ['ok', 'invalid-arguments'],
    reached: [[ORDER]],
  },
  ExplicitCustomer: {
    lines: [`- ExplicitCustomer_customer(customer: ${CUSTOMER_WORDS} "The customer") -> Adds a customer`],
    outcomes: ['ok', 'invalid-arguments'],
    reached: [[CUSTOMER]],
  },
  ExplicitKinds: {
    lines: [
      `- ExplicitKinds_many(list: JSON array of integer "A list", dates: JSON array of date or date-time with offset "A list of moments", set: JSON array of whole number in digits "A set", map: JSON object of number by name "A map", record: JSON object of date or date-time with offset by name "Values by name", lines: JSON object of ${LINE_WORDS} by name "Lines by name", filter: JSON of the schema {"type":"object","properties":{"colour":{"type":"string"}},"required":["colour"],"additionalProperties":false} "A filter") -> Takes many values`,
      '- ExplicitKinds_single(text: string "A text", number: number "A number", flag: boolean "A flag", digits: whole number in digits "Digits", bytes: base64 "Bytes", word: "low" | "high" "A word", size: "S" | "L" "A size", moment: date or date-time with offset | null "A moment", left?: integer "May be left out", made?: integer "Has a default") -> Takes single values',
    ],
    outcomes: ['ok', 'invalid-arguments', 'ok', 'invalid-arguments'],
    reached: [
      [
        ...['string a', 'number 1.5', 'boolean true', 'bigint 2512292042121000001', 'Buffer hi', 'string low'],
        ...['number 1', 'null', 'undefined', 'number 10'],
      ],
      [
        { Array: ['number 1', 'number 2'] },
        { Array: ['Date 2026-03-01T10:00:00.000Z'] },
        { Set: ['bigint 1', 'bigint 2'] },
        { Map: [['string eur', 'number 1.5']] },
        { 'no class': { from: 'Date 2026-03-01T10:00:00.000Z' } },
        { 'no class': { first: { LineDto: LINE } } },
        { Object: { colour: 'string red' } },
      ],
    ],
  },
  ExplicitEnums: {
    lines: [
      '- ExplicitEnums_state(status: "OPEN" | "CLOSED" "The state", level: "Low" | "High" "The level", only?: "OPEN" "The one that is left") -> Sets the state',
    ],
    outcomes: ['ok', 'invalid-arguments'],
    reached: [['string OPEN', 'number 1', 'string OPEN']],
  },
};

/** What the compiler says is enough, where it says it. */
const KNOWN: Readonly<Record<string, Expected>> = {
  BareFind: {
    lines: ['- BareFind_find(id: number "The order id") -> Finds an order'],
    outcomes: ['ok', 'ok', 'invalid-arguments'],
    reached: [['number 42'], ['number 43']],
  },
  BareWhen: {
    lines: ['- BareWhen_when(d: date or date-time with offset "The moment") -> Sets the day'],
    outcomes: ['ok', 'invalid-arguments'],
    reached: [['Date 2026-03-01T10:00:00.000Z']],
  },
  BareOrder: {
    lines: [`- BareOrder_order(order: ${ORDER_WORDS} "The order") -> Places an order`],
    outcomes: ['ok', 'invalid-arguments'],
    reached: [[ORDER]],
  },
  BareCustomer: {
    lines: [`- BareCustomer_customer(customer: ${CUSTOMER_WORDS} "The customer") -> Adds a customer`],
    outcomes: ['ok', 'invalid-arguments'],
    reached: [[CUSTOMER]],
  },
};

/** Class and place of each parameter of which nothing is said. */
const BARE = {
  BareFind: 'BareFind.find, parameter id',
  BareWhen: 'BareWhen.when, parameter d',
  BareOpt: 'BareOpt.opt, parameter x',
  BareIface: 'BareIface.iface, parameter f',
  BareArr: 'BareArr.arr, parameter xs',
  BareOrder: 'BareOrder.order, parameter order',
  BareCustomer: 'BareCustomer.customer, parameter customer',
  BareParcel: 'BareParcel.parcel, parameter parcel',
};
/** Of these something is said, but not all. */
const PARTLY = ['PartlySet', 'PartlyMap', 'PartlyTally', 'PartlyStock', 'PartlyCart', 'PartlyShelf', 'PartlyNote'];

const ofEach = <T>(names: readonly Build[], value: (compiler: Build) => T): Partial<Record<Build, T>> =>
  Object.fromEntries(names.map((compiler) => [compiler, value(compiler)]));

function seen(outcome: Outcome): Expected {
  return {
    lines: toolLines(outcome),
    outcomes: (outcome.calls ?? []).map(([call]) => call),
    reached: outcome.reached ?? [],
  };
}

/** What the compilers that gave no error made of it, where that is not the same; nothing where it is. */
function differing(name: string, part: (outcome: Outcome) => unknown): readonly object[] {
  const accepted = BUILDS.map((compiler) => ({ compiler, outcome: outcomeOf(compiler, name) }))
    .filter(({ outcome }) => outcome.request !== undefined)
    .map(({ compiler, outcome }) => ({ compiler, made: part(outcome) }));
  const first = JSON.stringify(accepted[0]?.made);
  return accepted.every(({ made }) => JSON.stringify(made) === first) ? [] : accepted;
}

describe('C32: no parameter types from the compiler', () => {
  describe('with the type said', () => {
    it.each(Object.entries(EXPLICIT))('%s is told and converted the same by all', (name, expected) => {
      expect(ofEach(BUILDS, (compiler) => seen(outcomeOf(compiler, name)))).toEqual(ofEach(BUILDS, () => expected));
      // And to the byte: the whole request, the description, the words of each result.
      const ofTsc = outcomeOf('tsc', name);
      expect(ofEach(BUILDS, (compiler) => outcomeOf(compiler, name))).toEqual(ofEach(BUILDS, () => ofTsc));
    });

    it('two files that import each other, and name their classes to the compiler, load everywhere or say why not', () => {
      const tried = ofEach(BUILDS, (compiler) => {
        const { notLoaded, reached } = outcomeOf(compiler, 'ExplicitParcel');
        return notLoaded ?? reached;
      });
      const refused = "ReferenceError: Cannot access 'ParcelDto' before initialization";
      const sender = (name: string, last: unknown) => ({ SenderDto: { name: `string ${name}`, last } });
      const last = { ParcelDto: { weight: 'number 2', sender: sender('bob', 'undefined') } };
      const reached = [[{ ParcelDto: { weight: 'number 1', sender: sender('alice', last) } }]];
      expect(tried).toEqual(
        ofEach(BUILDS, (compiler) => (compiler === 'tsc' || compiler === 'swc' ? refused : reached)),
      );
    });
  });

  describe('with only name and description', () => {
    describe.each(SILENT)('%s', (compiler) => {
      it.each(Object.entries(BARE))('refuses %s, and names the setting and the option', (name, where) => {
        const { error } = outcomeOf(compiler, name);
        expect(error).toMatch(new RegExp(`^${where}: no type is known, since the compiler emitted none`));
        expect(error).toMatch(/"emitDecoratorMetadata": true.*; turn that on, or write type: 'string' \| /);
      });
    });

    it('the setting is not denied to the one compiler of these that heeds it', () => {
      expect(outcomeOf('vite without emitDecoratorMetadata', 'BareFind').error).not.toMatch(/vite never/);
    });

    it('the setting is named as swc has it, too, which reads no tsconfig.json', () => {
      expect(outcomeOf('esbuild', 'BareFind').error).toMatch(/\bdecoratorMetadata\b/);
    });

    describe.each(TELLING)('%s', (compiler) => {
      it.each(Object.entries(KNOWN))('%s is what the compiler says', (name, expected) => {
        expect(seen(outcomeOf(compiler, name))).toEqual(expected);
      });

      it.each(['BareOpt', 'BareIface'] as const)('refuses %s, of which the compiler says Object', (name) => {
        expect(outcomeOf(compiler, name).error).toMatch(
          new RegExp(`^${BARE[name]}: the compiler says only Object, .*; write type: 'string' \\| `),
        );
      });

      it('refuses BareArr, of which the compiler says Array', () => {
        expect(outcomeOf(compiler, 'BareArr').error).toMatch(
          new RegExp(`^${BARE.BareArr}: nobody says what is in the array; write items: `),
        );
      });

      it('refuses BareParcel, whose class is not there yet', () => {
        const { error, notLoaded } = outcomeOf(compiler, 'BareParcel');
        expect(error ?? notLoaded).toMatch(
          compiler === 'vite'
            ? new RegExp(`^${BARE.BareParcel}: the compiler says only Object, .*; write type: `)
            : /^ReferenceError: Cannot access 'ParcelDto' before initialization$/,
        );
      });
    });
  });

  describe('never', () => {
    it.each(['BareFind', 'ExplicitFind'])('a text reaches find of %s', (name) => {
      const reached = BUILDS.flatMap((compiler) => outcomeOf(compiler, name).reached ?? []).flat();
      expect(new Set(reached)).toEqual(new Set(['number 42', 'number 43']));
    });

    it.each([...Object.keys(BARE), ...PARTLY])('is %s told in two ways without an error', (name) => {
      expect(differing(name, toolLines)).toEqual([]);
      expect(differing(name, parametersOf)).toEqual([]);
    });

    it.each([...Object.keys(BARE), ...PARTLY])('is %s called with two kinds of value without an error', (name) => {
      expect(differing(name, ({ reached }) => reached)).toEqual([]);
    });
  });
});
