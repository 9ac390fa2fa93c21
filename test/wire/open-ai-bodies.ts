import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const ajv = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false, allowUnionTypes: true });
addFormats.default(ajv);
const file = fileURLToPath(new URL('openai-chat.schema.json', `file://${process.cwd()}/test/wire/`));
ajv.addSchema(JSON.parse(readFileSync(file, 'utf8')) as object);

/** What is wrong with a body by OpenAI's own definition; an empty text where nothing is. */
function problems(definition: string, body: unknown): string {
  const validate = ajv.getSchema(`urn:openai:chat#/$defs/${definition}`);
  if (validate === undefined) throw new Error(`there is no ${definition}`);
  return validate(body) === true ? '' : ajv.errorsText(validate.errors);
}

export const requestProblems = (body: unknown): string => problems('CreateChatCompletionRequest', body);
export const responseProblems = (body: unknown): string => problems('CreateChatCompletionResponse', body);

/** What a JSON Schema says against a value, for the schemas that we send. */
export function schemaProblems(schema: unknown, value: unknown): string {
  const validate = new Ajv2020({ strict: true }).compile(schema as object);
  return validate(value) ? '' : ajv.errorsText(validate.errors);
}
