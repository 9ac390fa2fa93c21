/**
 * The rules of OpenAI's strict structured outputs, written from their documentation alone, so that what the library
 * emits is judged by something that shares no line with it. Where the documentation leaves a choice, the narrower
 * reading is taken: what passes here should pass there.
 */

type JsonObject = Readonly<Record<string, unknown>>;

interface Keyword {
  /** What its value must be, as it is told. */
  readonly must: string;
  readonly holds: (value: unknown) => boolean;
  /** The types that it says something about; when there are none it goes with any. */
  readonly of: readonly string[];
}

const MAX_PROPERTIES = 5_000;
const MAX_LEVELS = 10;
const MAX_CHARACTERS = 120_000;
const MAX_ENUM_VALUES = 1_000;
/** An enum of more values than this has a bound of its own on its texts. */
const LONG_ENUM_VALUES = 250;
const MAX_LONG_ENUM_CHARACTERS = 15_000;

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];
/** A schema with none of these would take anything. */
const SAYING_WHAT = ['type', 'anyOf', 'enum', 'const', '$ref'];

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);
const isNumber = (value: unknown): boolean => Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isScalar = (value: unknown): boolean =>
  value === null || isText(value) || typeof value === 'boolean' || isNumber(value);
const isScalars = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length > 0 && value.every(isScalar);

const isType = (value: unknown): value is string | readonly string[] =>
  isTexts(value)
    ? value.length === 2 && value[0] !== 'null' && TYPES.includes(value[0] ?? '') && value[1] === 'null'
    : isText(value) && TYPES.includes(value);

/** Lookaround is legal JSON Schema, but what compiles patterns there has none. */
function isPattern(value: unknown): boolean {
  if (!isText(value)) return false;
  try {
    new RegExp(value, 'u');
  } catch {
    return false;
  }
  const bare = value.replace(/\\.|\[(?:\\.|[^\]\\])*\]/gsu, '');
  return !/\(\?<?[=!]/u.test(bare);
}

const keyword = (must: string, holds: Keyword['holds'], ...of: readonly string[]): Keyword => ({ must, holds, of });
const number = keyword('must be a number', isNumber, 'number', 'integer');
const count = keyword('must be a whole number from 0', isCount, 'array');
const scalars = 'must be a list of at least one text, number, truth value or null';

/** All that the strict mode takes. Any other keyword is a problem, whatever JSON Schema says about it. */
const KEYWORDS: ReadonlyMap<string, Keyword> = new Map([
  ['type', keyword(`must be one of ${TYPES.join(', ')}, or a list of one and then null`, isType)],
  ['properties', keyword('must be an object of schemas', isObject, 'object')],
  ['required', keyword('must be a list of texts', isTexts, 'object')],
  ['additionalProperties', keyword('must be false', (value) => value === false, 'object')],
  ['items', keyword('must be a schema, which is an object', isObject, 'array')],
  ['anyOf', keyword('must be a list of at least one schema', (value) => Array.isArray(value) && value.length > 0)],
  ['enum', keyword(scalars, isScalars)],
  ['const', keyword('must be a text, number, truth value or null', isScalar)],
  ['$ref', keyword('must be a text', isText)],
  ['$defs', keyword('must be an object of schemas', isObject)],
  ['description', keyword('must be a text', isText)],
  ['pattern', keyword('must be a regular expression without lookaround', isPattern, 'string')],
  ['format', keyword(`must be one of ${FORMATS.join(', ')}`, (value) => FORMATS.some((f) => f === value), 'string')],
  [
    'multipleOf',
    { ...number, must: 'must be a number above 0', holds: (value) => isNumber(value) && Number(value) > 0 },
  ],
  ['minimum', number],
  ['maximum', number],
  ['exclusiveMinimum', number],
  ['exclusiveMaximum', number],
  ['minItems', count],
  ['maxItems', count],
]);

/** One run over one schema. */
interface Run {
  readonly root: JsonObject;
  readonly problems: string[];
  /** The schemas around the one that is looked at: an object that holds itself has no JSON. */
  readonly around: Set<JsonObject>;
  properties: number;
  characters: number;
  enumValues: number;
}

/**
 * What keeps a schema from the strict mode, each line as `#/pointer: problem`; none for one that it takes.
 *
 * How the limits are counted: properties, characters and enum values wherever they are written, definitions that
 * nothing refers to included. Characters are UTF-16 units, and those of a value that is no text are those of its JSON.
 * The root object is level 1 and each object or array inside adds one; `anyOf` adds none, a `$ref` is not followed, and
 * a definition is inside the root, as it is when a property of the root refers to it.
 */
export function strictModeProblems(schema: unknown): string[] {
  if (!isObject(schema)) return ['#: must be a schema, which is an object'];
  const problems: string[] = [];
  const run: Run = { root: schema, problems, around: new Set(), properties: 0, characters: 0, enumValues: 0 };
  if (schema['type'] !== 'object') problems.push('#: must be of type object and nothing else');
  if (Object.hasOwn(schema, 'anyOf')) problems.push('#/anyOf: may not be at the root');
  checkSchema(run, schema, '#', 0);
  const limit = (found: number, most: number, what: string): void => {
    if (found > most) problems.push(`#: has ${found} ${what}, the limit is ${most}`);
  };
  limit(run.properties, MAX_PROPERTIES, 'properties');
  limit(run.characters, MAX_CHARACTERS, 'characters of names and values');
  limit(run.enumValues, MAX_ENUM_VALUES, 'enum values');
  return problems;
}

const under = (path: string, key: string | number): string =>
  `${path}/${key.toString().replaceAll('~', '~0').replaceAll('/', '~1')}`;

function checkSchema(run: Run, schema: unknown, path: string, levelAround: number): void {
  const tell = (problem: string): number => run.problems.push(`${path}: ${problem}`);
  if (!isObject(schema)) return void tell('must be a schema, which is an object');
  if (run.around.has(schema)) return void tell('is the same object as one around it; only a $ref can say that');

  const type = schema['type'];
  const types = isType(type) ? [type].flat() : [];
  const isNested = types.includes('object') || types.includes('array');
  const level = levelAround + (isNested ? 1 : 0);
  // Only the first one too deep on each way down: those inside it are no news.
  if (isNested && level === MAX_LEVELS + 1) tell(`is at level ${level} of nesting, the limit is ${MAX_LEVELS}`);

  checkKeywords(run, schema, path, types);
  if (!SAYING_WHAT.some((name) => Object.hasOwn(schema, name))) tell(`must have ${SAYING_WHAT.join(' or ')}`);
  if (types.includes('array') && !Object.hasOwn(schema, 'items')) tell('must have items');
  if (types.includes('object')) checkObject(run, schema, path);
  checkValues(run, schema, path, types);
  if (isText(schema['$ref'])) checkRef(run, schema['$ref'], under(path, '$ref'));
  run.around.add(schema);
  checkInside(run, schema, path, level);
  run.around.delete(schema);
}

/** Each keyword by itself: whether it is one, whether it may stand where it stands, and what its value is. */
function checkKeywords(run: Run, schema: JsonObject, path: string, types: readonly string[]): void {
  const isTypeKnown = !Object.hasOwn(schema, 'type') || types.length > 0;
  for (const [name, value] of Object.entries(schema)) {
    const tell = (problem: string): number => run.problems.push(`${under(path, name)}: ${problem}`);
    const known = KEYWORDS.get(name);
    if (known === undefined) tell('is not supported');
    else if (Object.hasOwn(schema, '$ref') && name !== '$ref') tell('may not stand beside $ref');
    else if (name === '$defs' && path !== '#') tell('may be at the root only');
    else if (isTypeKnown && known.of.length > 0 && !known.of.some((type) => types.includes(type)))
      tell(`may be with type ${known.of.join(' or ')} only`);
    else if (!known.holds(value)) tell(known.must);
  }
}

function checkObject(run: Run, schema: JsonObject, path: string): void {
  const tell = (problem: string, at = path): number => run.problems.push(`${at}: ${problem}`);
  const { properties, required } = schema;
  for (const name of ['properties', 'required', 'additionalProperties'])
    if (!Object.hasOwn(schema, name)) tell(`must have ${name}`);
  if (!isTexts(required)) return;
  const names = new Set(isObject(properties) ? Object.keys(properties) : []);
  const listed = new Set<string>();
  for (const name of required) {
    if (listed.has(name)) tell(`lists ${JSON.stringify(name)} twice`, under(path, 'required'));
    else if (!names.has(name)) tell(`lists ${JSON.stringify(name)}, which is no property`, under(path, 'required'));
    listed.add(name);
  }
  for (const name of names)
    if (!listed.has(name)) tell(`does not list ${JSON.stringify(name)}`, under(path, 'required'));
}

const isOfType = (value: unknown, type: string): boolean =>
  type === 'null'
    ? value === null
    : type === 'integer'
      ? Number.isInteger(value)
      : value !== null && typeof value === type;

/** `enum` and `const`, also against the type beside them: they refuse a null that the type allows, if not listed. */
function checkValues(run: Run, schema: JsonObject, path: string, types: readonly string[]): void {
  for (const name of ['enum', 'const']) {
    const tell = (problem: string, at = under(path, name)): number => run.problems.push(`${at}: ${problem}`);
    const values = name === 'enum' ? schema[name] : [schema[name]];
    if (!isScalars(values)) continue;
    for (const [index, value] of values.entries()) {
      const at = name === 'enum' ? under(under(path, name), index) : under(path, name);
      if (types.length > 0 && !types.some((type) => isOfType(value, type))) tell(`is not ${types.join(' or ')}`, at);
      if (values.indexOf(value) < index) tell('is there twice', at);
      run.characters += (isText(value) ? value : JSON.stringify(value)).length;
    }
    if (types.includes('null') && !values.includes(null)) tell('leaves out null, which the type beside it allows');
    if (name === 'const') continue;
    run.enumValues += values.length;
    const characters = values.filter(isText).join('').length;
    if (values.length > LONG_ENUM_VALUES && characters > MAX_LONG_ENUM_CHARACTERS)
      tell(`has ${characters} characters in ${values.length} values, the limit is ${MAX_LONG_ENUM_CHARACTERS}`);
  }
}

function checkInside(run: Run, schema: JsonObject, path: string, level: number): void {
  for (const holder of ['properties', '$defs']) {
    const inside = schema[holder];
    if (!isObject(inside)) continue;
    for (const [name, child] of Object.entries(inside)) {
      const at = under(under(path, holder), name);
      run.characters += name.length;
      if (holder === 'properties') run.properties++;
      if (name === '') run.problems.push(`${at}: has an empty name`);
      checkSchema(run, child, at, level);
    }
  }
  const { anyOf } = schema;
  if (Array.isArray(anyOf))
    for (const [index, child] of anyOf.entries()) checkSchema(run, child, under(under(path, 'anyOf'), index), level);
  if (isObject(schema['items'])) checkSchema(run, schema['items'], under(path, 'items'), level);
}

/** The root or one of its definitions; undefined for whatever else. */
function target(root: JsonObject, ref: string): unknown {
  if (ref === '#') return root;
  const defs = root['$defs'];
  const escaped = /^#\/\$defs\/((?:[^/~%]|~[01])*)$/u.exec(ref)?.[1];
  if (escaped === undefined || !isObject(defs)) return undefined;
  const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
  return Object.hasOwn(defs, name) ? defs[name] : undefined;
}

/** A chain of nothing but references that ends where it began says nothing, as one that ends nowhere. */
function checkRef(run: Run, ref: string, path: string): void {
  const passed = new Set<unknown>();
  let schema = target(run.root, ref);
  if (schema === undefined) run.problems.push(`${path}: is neither # nor #/$defs/ and the name of a definition`);
  while (isObject(schema) && isText(schema['$ref']) && !passed.has(schema)) {
    passed.add(schema);
    schema = target(run.root, schema['$ref']);
  }
  if (passed.has(schema)) run.problems.push(`${path}: leads back to itself`);
}
