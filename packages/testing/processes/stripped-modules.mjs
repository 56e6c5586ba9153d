import { existsSync, readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

// Loads modules of the checkout without their types from the folder STRIPPED_MODULES, where `strip-types.ts` has put them. `--import`
// loads this file into the processes that tests start: stripping takes a quarter of the CPU time of a start.

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = process.env.STRIPPED_MODULES;

// A Node.js that is too old has no such hooks, and is refused by the program itself.
if (folder !== undefined && existsSync(folder))
  nodeModule.registerHooks?.({
    load(url, context, nextLoad) {
      if (context.format !== 'module-typescript' || !url.startsWith('file:')) return nextLoad(url, context);
      const path = fileURLToPath(url);
      const stripped = path.startsWith(root) ? `${folder}/${path.slice(root.length)}` : '';
      if (!existsSync(stripped)) return nextLoad(url, context);
      return { format: 'module', source: readFileSync(stripped, 'utf8'), shortCircuit: true };
    },
  });
