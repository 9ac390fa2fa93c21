import type { CompiledTool, Tool, ToolCallContext, ToolParameter } from './tool.js';

const compiled = new WeakMap<Tool, CompiledTool>();

/**
 * A compiled tool as a `Tool`: to be looked at, and to be listed. Executed by hand, one of a class has no scope to be
 * resolved from, and rejects.
 */
export function registeredTool(tool: CompiledTool): Tool {
  const { name, description, groups, schema } = tool;
  const parameters = tool.parameters.map(
    ({ name: parameter, optional, description: said }): [string, ToolParameter] => [
      parameter,
      Object.freeze({
        description: said,
        optional,
        jsonSchema: Object.freeze({ ...schema.properties[parameter], ...(schema.$defs && { $defs: schema.$defs }) }),
      }),
    ],
  );
  const facade: Tool = Object.freeze({
    name,
    description,
    parameters: Object.freeze(Object.fromEntries(parameters)),
    groups: Object.freeze(groups.map((groupName) => Object.freeze({ groupName }))),
    execute: async (args: object, context: ToolCallContext) => {
      const prepared = await tool.prepare(args as Readonly<Record<string, unknown>>, context, undefined);
      return prepared();
    },
  });
  compiled.set(facade, tool);
  return facade;
}

/** The tool behind one that a registry gave; nothing for any other. */
export function compiledBehind(tool: Tool): CompiledTool | undefined {
  return compiled.get(tool);
}
