import type { AIHandle } from './install.js';

/**
 * All that an application exposes to models, one sorted line for each tool of each agent:
 * `SupportController#0: OrderTools_findOrder [ReadOnly]`. For a test that fails when the surface grows. In brackets stands
 * the effect, then the other groups. Throws as `ai.describe()` does.
 */
export function exposedTools(ai: Pick<AIHandle, 'describe'>): readonly string[] {
  return ai
    .describe()
    .sites.flatMap(({ site, tools }) =>
      tools.map(({ name, effect, groups }) => {
        const mark = effect === 'read-only' ? 'ReadOnly' : 'Mutating';
        return `${site}: ${name} [${[mark, ...groups.filter((group) => group !== mark)].join(', ')}]`;
      }),
    )
    .sort();
}
