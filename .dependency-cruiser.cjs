/** The arrows between the folders: who may know whom. `npm run check:arrows` keeps them. */
const only = (name, from, allowed, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { path: from },
  to: { pathNot: allowed, dependencyTypesNot: ['core'] },
});

const leaves = '^lib/[^/]+\\.ts$'; // the errors and the plain data that all of lib speaks of

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    only(
      'lib-knows-no-container',
      '^lib/',
      '^lib/|node_modules/(openai|class-transformer|class-validator|ipaddr\\.js|@modelcontextprotocol|@types/node)/',
      'lib/ knows neither inversify nor a decorator',
    ),
    only('lib-leaves', leaves, leaves, 'errors and run data import nothing but each other'),
    only('lib-schema', '^lib/schema/(?!dto/)', `^lib/schema/|${leaves}`, 'schema is the lowest folder'),
    only(
      'lib-schema-dto',
      '^lib/schema/dto/',
      `^lib/schema/|${leaves}|node_modules/class-(validator|transformer)/`,
      'schema is the lowest folder; classes with rules are its own part of it',
    ),
    only(
      'lib-tool',
      '^lib/tool/',
      `^lib/(tool|schema)/|${leaves}|node_modules/(class-transformer|ipaddr\\.js|@types/node)/`,
      'tool -> schema',
    ),
    only(
      'lib-model',
      '^lib/model/',
      `^lib/(model|schema)/|${leaves}|node_modules/(openai|@types/node)/`,
      'model -> schema',
    ),
    only('lib-wire', '^lib/wire/', `^lib/(wire|tool|model|schema)/|${leaves}`, 'wire -> tool, model -> schema'),
    only(
      'lib-mcp',
      '^lib/mcp/',
      `^lib/(mcp|tool|schema)/|${leaves}|node_modules/@modelcontextprotocol/`,
      'mcp -> tool -> schema',
    ),
    only(
      'lib-agent',
      '^lib/agent/',
      `^lib/(agent|wire|tool|model|schema)/|${leaves}`,
      'agent -> wire -> tool, model -> schema',
    ),
    only(
      'decorators',
      '^decorators/',
      `^decorators/|${leaves}|^lib/(tool|schema|agent|model)/|node_modules/(inversify|reflect-metadata)/`,
      'decorators -> lib',
    ),
    {
      name: 'decorators-take-types',
      severity: 'error',
      comment:
        'of lib, the decorators run the errors, the rules of a declaration and the groups; anything else is a type',
      from: { path: '^decorators/' },
      to: {
        path: '^lib/',
        pathNot: '^lib/(errors|declaration|run-options|process-state|tool-source|tool/group)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'nobody-knows-the-container',
      severity: 'error',
      comment: 'only index.ts and the adapters import container/',
      from: { pathNot: '^(index\\.ts$|container/)' },
      to: { path: '^container/' },
    },
    {
      name: 'frameworks-behind-adapters',
      severity: 'error',
      comment: 'each framework is an optional peer, known to its adapter alone and by its types',
      from: { path: '^(index\\.ts$|lib/|decorators/|container/)', pathNot: '^container/adapters/' },
      to: { path: 'node_modules/(@types/express|express|fastify|hono|@hono)/' },
    },
    {
      name: 'adapters-take-types',
      severity: 'error',
      from: { path: '^container/adapters/' },
      to: {
        path: 'node_modules/(@types/express|express|fastify|hono|@hono)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'mcp-on-use',
      severity: 'error',
      comment: 'the SDK of MCP is an optional peer, loaded when a server is started or connected to',
      from: { path: '^(index\\.ts$|lib/|decorators/|container/)' },
      to: { path: 'node_modules/@modelcontextprotocol/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'nobody-knows-testing',
      severity: 'error',
      comment: 'the test kit is a door of its own',
      from: { pathNot: '^(lib/testing/|container/testing\\.ts$)' },
      to: { path: '^lib/testing/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.d.ts'],
    },
  },
};
