import { throwProblems } from '../lib/declaration.js';
import { Registry } from '../lib/tool/registry.js';
import { declareToken } from '../lib/token.js';
import { scanClass } from './scan.js';

/**
 * Tools by key, so that a `tools` list can name them as texts, `tools: ['lookup@crm']`. `installAI` binds one, `ai.registry`,
 * where the application has not bound its own; a scope that binds one has that in its place. It is no global: nothing is
 * shared between two containers, and nothing that is registered is offered to an agent that does not list it.
 */
export class ToolRegistry extends Registry {
  static {
    declareToken('ToolRegistry', this);
  }

  constructor() {
    super((target) => {
      const { tools, problems, bareNames } = scanClass(target);
      throwProblems(problems);
      return tools.map((tool, index) => ({ tool, bare: bareNames[index] ?? tool.name }));
    });
  }
}
