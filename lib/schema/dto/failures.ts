import type { Findings } from '../findings.js';
import { cut, quote } from '../quote.js';
import type { Shape } from '../shape.js';
import { isBuiltIn } from './rule-words.js';
import type { RuleFailure } from './validation.js';

/** What class-validator looked at, and what it was made from: only the latter is the model's own. */
interface Looked {
  readonly instance: unknown;
  readonly plain: unknown;
}

/** The lines for what class-validator found, by the names that the model uses. */
export function tellFailures(
  failures: readonly RuleFailure[],
  shape: Shape,
  { instance, plain }: Looked,
  path: string,
  findings: Findings,
): void {
  const actual = branchOf(shape, instance);
  for (const { property, constraints = {}, children = [] } of failures) {
    if (findings.isEnough()) return;
    const inner = part(actual, property, path);
    const sent = memberOf(plain, inner.name);
    const broken = Object.entries(constraints);
    // What is of the wrong kind breaks every bound as well: one line says it.
    const kind = broken.find(([rule]) => KIND_RULES.has(rule));
    for (const [rule, text] of kind === undefined ? broken : [kind])
      findings.add(`${inner.path}: ${said(actual, property, rule, text, sent)}`);
    const looked = { instance: memberOf(instance, property), plain: sent };
    tellFailures(children, inner.shape, looked, inner.path, findings);
  }
}

function said(shape: Shape, property: string, rule: string, text: string, sent: unknown): string {
  const told = shape.kind === 'object' ? shape.dto?.rules.get(property)?.find(({ name }) => name === rule) : undefined;
  if (told?.message !== undefined) return cut(told.message, MAX_MESSAGE);
  if (told?.expected !== undefined) return `expected ${told.expected}, got ${quoteSent(sent)}`;
  // A rule of the application's own says what it means; a text of class-validator's names what the model does not know.
  return text !== '' && told !== undefined && !isBuiltIn(rule) ? cut(text, MAX_MESSAGE) : 'this value is not accepted';
}

const MAX_MESSAGE = 200;

/** Rules that say what a value is. */
const KIND_RULES: ReadonlySet<string> = new Set([
  ...['isDefined', 'isString', 'isInt', 'isNumber', 'isBoolean', 'isDate', 'isArray', 'isObject', 'isEnum', 'isIn'],
]);

/** As it was sent, as far as it still shows. */
function quoteSent(value: unknown): string {
  return value instanceof Date ? JSON.stringify(value) : quote(value);
}

interface Part {
  readonly shape: Shape;
  /** What the wire calls it. */
  readonly name: string;
  readonly path: string;
}

function part(shape: Shape, property: string, path: string): Part {
  switch (shape.kind) {
    case 'object': {
      const field = shape.fields.find(({ name, property: own = name }) => own === property);
      const name = field?.name ?? property;
      return { shape: field?.shape ?? ANY, name, path: `${path}.${cut(name)}` };
    }
    case 'array':
      return { shape: shape.items, name: property, path: `${path}[${property}]` };
    case 'record':
      return { shape: shape.values, name: property, path: `${path}[${quote(property)}]` };
    default:
      return { shape: ANY, name: property, path: `${path}.${cut(property)}` };
  }
}

const ANY: Shape = { kind: 'any', mayBeText: true };

function memberOf(held: unknown, name: string): unknown {
  if (held instanceof Map) return held.get(name);
  const members = held instanceof Set ? [...held] : held;
  if (typeof members !== 'object' || members === null || !Object.hasOwn(members, name)) return undefined;
  return (members as Readonly<Record<string, unknown>>)[name];
}

function branchOf(shape: Shape, instance: unknown): Shape {
  if (shape.kind !== 'union') return shape;
  return shape.branches.find(({ shape: { dto } }) => dto !== undefined && instance instanceof dto.type)?.shape ?? ANY;
}
