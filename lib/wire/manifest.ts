import { typeText, type Parameter } from '../schema/parameter.js';
import type { CompiledTool } from '../tool/tool.js';

/** The one line for a tool: `- OrderTools_findOrder(orderId: integer, the order id) -> Looks up a single order by id`. */
export function manifestLine(tool: CompiledTool): string {
  return `- ${tool.name}(${tool.parameters.map(parameterText).join('; ')}) -> ${oneLine(tool.description)}`;
}

function parameterText(parameter: Parameter): string {
  const optional = parameter.optional ? ', may be left out' : '';
  return `${parameter.name}: ${typeText(parameter)}${optional}, ${oneLine(parameter.description)}`;
}

/** A description is one line, whatever was written: a line break in it would start another tool. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
