import type { Config } from 'jest';

const config: Config = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  // A real decoder in an installation of its own: `npm run test:real`.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/real/grammar/'],
  extensionsToTreatAsEsm: ['.ts'],
  // Sources name their modules as Node will find them (`./x.js`); here they are still `./x.ts`.
  moduleNameMapper: {
    '^inversify-ai$': '<rootDir>/index.ts',
    '^inversify-ai/(express|fastify|hono)$': '<rootDir>/container/adapters/$1.ts',
    // The test kit, with a look at every request that it is sent.
    '^inversify-ai/testing$': '<rootDir>/test/checked-testing.ts',
    '^inversify-ai/llama$': '<rootDir>/lib/model/llama.ts',
    '^inversify-ai/mcp$': '<rootDir>/container/mcp.ts',
    '^inversify-ai/tools$': '<rootDir>/lib/tool/core-tools.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  // `isolatedModules` stays off: with it on, parameter types imported from another file reach the metadata as `Object`.
  // 151002 is ts-jest asking for it.
  transform: {
    '^.+\\.ts$': ['ts-jest', { useESM: true, tsconfig: 'tsconfig.json', diagnostics: { ignoreCodes: [151002] } }],
  },
};

export default config;
