// A class whose rules were written with the copy of class-validator that is named, and a model that pays too much.
import 'reflect-metadata';
import { createAIService, defineTool } from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';

const [copy] = process.argv.slice(2);
class PayDto {}
if (copy !== undefined) {
  const { IsInt, Max } = await import(copy);
  IsInt()(PayDto.prototype, 'amount');
  Max(500)(PayDto.prototype, 'amount');
}
const paid = [];
try {
  const declared = { name: 'pay', description: 'Pays', execute: ({ p }) => paid.push(p) };
  const pay = defineTool({ ...declared, parameters: { p: { type: PayDto, description: 'What' } } });
  const model = scriptedModel([call('pay', { p: '{"amount":900}' }), text('done')]);
  const { calls } = await createAIService({ model, tools: [pay] }).run('q');
  console.log(calls[0].result.split('\n')[1]);
} catch (error) {
  console.log(error.message);
}
const count = defineTool({
  name: 'count',
  description: 'Counts',
  parameters: { n: { type: 'integer', description: 'n' } },
  execute: ({ n }) => n,
});
const { calls } = await createAIService({ model: scriptedModel([call('count', { n: '2' }), text('')]), tools: [count] })
  .run('q')
  .catch((error) => error.run);
console.log('primitives', calls[0].result, paid.length);
