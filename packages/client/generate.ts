import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import openapiTypescript, { astToString } from 'openapi-typescript';

/**
 * Writes schema.ts from the OpenAPI document: `node packages/client/generate.ts [URL]`. Without the address of a running
 * server it starts one on a database of its own and takes it away again.
 */
export const schemaFile = join(import.meta.dirname, 'schema.ts');
export const command = 'node packages/client/generate.ts';

const header = `// biome-ignore-all lint: generated
// biome-ignore-all format: generated
// Types of the HTTP API, made from its OpenAPI document by \`${command}\`: not to be edited.

`;

/**
 * The text of schema.ts for a document. Left out are the methods that a path does not have, two thirds of the text, and
 * the exports that nothing reads.
 */
export async function schemaOf(document: object): Promise<string> {
  // The generator changes what it is given.
  const nodes = await openapiTypescript(structuredClone(document) as never, { silent: true });
  const text = astToString(nodes)
    .replaceAll(/^ *(get|put|post|delete|options|head|patch|trace)\?: never;\n/gm, '')
    .replaceAll(/^export type (webhooks|\$defs) = .*\n/gm, '')
    .replace('export interface operations', 'interface operations');
  return header + text;
}

/** Runs `work` with the address of a shop that is started for it. */
async function withShop<T>(work: (url: string) => Promise<T>): Promise<T> {
  const data = await mkdtemp(join(tmpdir(), 'tradepost-client-'));
  const script = join(import.meta.dirname, '../../bin/tradepost.ts');
  const options = ['start', '--port', '0', '--seed', 'none', '--only', 'api', '--data', data];
  const child = spawn(process.execPath, [script, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const found = /Shop API\s+(http:\S+)/.exec(output);
        if (found) resolve(found[1]!);
      });
      void ended.then(() => reject(new Error(`the shop did not start:\n${output}`)));
    });
    return await work(url);
  } finally {
    child.kill('SIGTERM');
    await ended;
    await rm(data, { recursive: true, force: true });
  }
}

async function write(url: string): Promise<void> {
  const response = await fetch(new URL('/openapi.json', url));
  await writeFile(schemaFile, await schemaOf((await response.json()) as object));
  process.stdout.write(`${schemaFile} written\n`);
}

if (import.meta.main) {
  const [url] = process.argv.slice(2);
  await (url ? write(url) : withShop(write));
}
