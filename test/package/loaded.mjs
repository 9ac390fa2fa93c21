/* A hook of Node's loader that says which packages are loaded: node --import ./loaded.mjs main.mjs */
import { writeSync } from 'node:fs';
import { register } from 'node:module';

register(
  `data:text/javascript,${encodeURIComponent(`
    import { writeSync } from 'node:fs';
    export async function load(url, context, next) {
      const [, name] = /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? [];
      if (name !== undefined) writeSync(2, 'loaded ' + name + '\\n');
      return next(url, context);
    }
  `)}`,
);
writeSync(2, 'watching\n');
