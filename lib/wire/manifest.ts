import { oneLine, oneLineJson } from '../schema/one-line.js';
import { orNullText, typeTexts } from '../schema/type-text.js';
import type { CompiledTool } from '../tool/tool.js';

/**
 * The one line for a tool: `- OrderTools_findOrder(orderId: integer "The order id") -> Looks up a single order by id`.
 * An argument that may be left out bears a `?`, as in TypeScript. What the developer wrote of a parameter stands in
 * quotes, so that no description can look like another parameter; a line break in it would start another tool.
 */
export function manifestLine(tool: CompiledTool): string {
  const types = typeTexts(tool.parameters.map(({ shape }) => shape));
  const parameters = tool.parameters.map(({ name, optional, nullable, description }, index) => {
    const type = orNullText(types[index] ?? '', nullable);
    // A schema that says all arguments may say nothing of one.
    const said = oneLine(description);
    return `${name}${optional ? '?' : ''}: ${type}${said === '' ? '' : ` ${oneLineJson(said)}`}`;
  });
  return `- ${tool.name}(${parameters.join(', ')}) -> ${oneLine(tool.description)}`;
}
