import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSnapshots } from './read-snapshots.ts';

/**
 * Writes schema.ts, the types of the client: `npm run generate:client`, which `npm ci` runs too. They are those of the
 * snapshots in `packages/<package>/openapi.json`, or with `node packages/client/generate.ts <URL>` those of a running server.
 */
export const schemaFile = join(import.meta.dirname, 'schema.ts');
export const command = 'npm run generate:client';

const header = `// Types of the HTTP API, made from its OpenAPI document by \`${command}\`: not to be edited.\n\n`;

/** Imported here: an installation without development dependencies does not have it. */
async function loadGenerator() {
  try {
    return await import('openapi-typescript');
  } catch (error) {
    const npm = /^npm\/(\S+)/.exec(process.env.npm_config_user_agent ?? '')?.[1];
    const advice = `run npm ci again, with npm 10 or newer${npm ? ` (this is npm ${npm})` : ''}`;
    throw new Error(`the packages for development are not complete: ${advice}: ${(error as Error).message}`);
  }
}

/**
 * The text of schema.ts for a document. Left out are the methods that a path does not have, two thirds of the text, and
 * the exports that nothing reads.
 */
export async function schemaOf(document: object): Promise<string> {
  const { default: openapiTypescript, astToString } = await loadGenerator();
  // The generator changes what it is given.
  const nodes = await openapiTypescript(structuredClone(document) as never, { silent: true });
  const text = astToString(nodes)
    .replaceAll(/^ *(get|put|post|delete|options|head|patch|trace)\?: never;\n/gm, '')
    .replaceAll(/^export type (webhooks|\$defs) = .*\n/gm, '')
    .replace('export interface operations', 'interface operations');
  return header + text;
}

/** As in `install/trim.ts`. npm 9 installs a part of the generator for production too. */
const isProduction = () => !existsSync(join(import.meta.dirname, '../../node_modules/vitest'));

async function documentAt(url: string): Promise<object> {
  const response = await fetch(new URL('/openapi.json', url));
  return (await response.json()) as object;
}

if (import.meta.main) {
  const [url] = process.argv.slice(2);
  // Nothing that runs in production needs the types.
  if (!isProduction()) await writeFile(schemaFile, await schemaOf(url ? await documentAt(url) : await readSnapshots()));
}
