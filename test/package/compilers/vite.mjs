// Runs report.ts of this folder as vitest does by default: transformed by vite, with no configuration but tsconfig.json.
import { createServer } from 'vite';

const server = await createServer({
  root: import.meta.dirname,
  configFile: false,
  logLevel: 'error',
  appType: 'custom',
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
});
try {
  await server.ssrLoadModule('/report.ts');
} finally {
  await server.close();
}
