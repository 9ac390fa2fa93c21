import type { EmbeddedTurn } from './embedded-request.js';
import type { EmbeddedDecision, EmbeddedValue } from './embedded-rules.js';

/** What the stand-in replies, before an API writes it. */
export interface EmbeddedReply {
  readonly text: string;
  readonly refusal?: string;
  readonly call?: { readonly name: string; readonly arguments: string };
}

/** A decision in the form that the request asks for. */
export function writeReply(turn: EmbeddedTurn, decision: EmbeddedDecision): EmbeddedReply {
  if (decision.kind === 'refusal') return { text: '', refusal: decision.text };
  if (decision.kind === 'answer') return { text: writeAnswer(turn, decision.text) };
  const { name, values } = decision;
  if (turn.form === 'functions') return { text: '', call: { name, arguments: typed(turn, name, values) } };
  if (turn.form === 'union') {
    const args = typed(turn, name, values);
    const written = turn.asText.includes(name) ? JSON.stringify(args) : args;
    return { text: `{"next":{"tool":${JSON.stringify(name)},"arguments":${written}}}` };
  }
  const pairs = values.map(({ parameter, text }) => ({ name: parameter.name, value: text }));
  return { text: JSON.stringify({ tool: name, arguments: pairs, answer: '' }) };
}

function writeAnswer({ form, hasArguments }: EmbeddedTurn, text: string): string {
  if (form === 'union') return JSON.stringify({ next: { tool: 'ANSWER', answer: text } });
  if (form === 'envelope')
    return JSON.stringify({ tool: 'ANSWER', ...(hasArguments && { arguments: [] }), answer: text });
  return text;
}

/** Every parameter is there, since a strict schema wants that: what the question does not hold is null. */
function typed({ tools }: EmbeddedTurn, name: string, values: readonly EmbeddedValue[]): string {
  const parameters = tools.find((tool) => tool.name === name)?.parameters ?? [];
  const members = parameters.map((parameter) => {
    const value = values.find((given) => given.parameter === parameter);
    return `${JSON.stringify(parameter.name)}:${value === undefined ? 'null' : literal(value)}`;
  });
  return `{${members.join(',')}}`;
}

function literal({ parameter: { type }, text }: EmbeddedValue): string {
  return type === 'integer' || type === 'number' || type === 'boolean' ? text : JSON.stringify(text);
}
