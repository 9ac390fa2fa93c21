import { typeText } from '../schema/type-text.js';
import type { Parameter } from '../schema/shape.js';
import type { CompiledTool } from '../tool/tool.js';

/**
 * The one line for a tool: `- OrderTools_findOrder(orderId: integer "The order id") -> Looks up a single order by id`.
 * An argument that may be left out bears a `?`, as in TypeScript. What the developer wrote of a parameter stands in
 * quotes, so that no description can look like another parameter.
 */
export function manifestLine(tool: CompiledTool): string {
  return `- ${tool.name}(${tool.parameters.map(parameterText).join(', ')}) -> ${oneLine(tool.description)}`;
}

function parameterText(parameter: Parameter): string {
  const mark = parameter.optional ? '?' : '';
  return `${parameter.name}${mark}: ${typeText(parameter.shape)}${parameter.nullable ? ' | null' : ''} ${JSON.stringify(oneLine(parameter.description))}`;
}

/** A description is one line, whatever was written: a line break in it would start another tool. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
