import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { openModules } from '@tradepost/module';
import { loadConfig, openLog, type Runtime } from '@tradepost/runtime';
import stringify from 'json-stringify-pretty-compact';
import { modules } from '../modules.ts';
import { startServer } from '../server.ts';
import { type ApiDocument, splitDocument } from './split-document.ts';

/**
 * Writes the snapshots of the API document: `npm run generate:openapi`. It starts a shop on a database of its own and deletes
 * the database afterwards.
 */
const packagesFolder = join(import.meta.dirname, '../..');

/** Writes a value of at most 120 characters on one line, so that a pull request shows a changed field as one line. */
const textOf = (part: object): string => `${stringify(part, { maxLength: 120 })}\n`;

/**
 * The snapshots of the document of a shop that runs all modules: file -> text. `packages/<package>/openapi.json` has the
 * operations of the package. `packages/http/openapi.json` has the head of the document and the system pages.
 */
export async function apiSnapshots(runtime: Runtime, document: ApiDocument): Promise<ReadonlyMap<string, string>> {
  const opened = await openModules(runtime, modules);
  await opened.close();
  const owners = modules.map(({ name }) => {
    const operations = opened
      .routesOf(name)
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    return { name, operations: new Set(operations) };
  });
  const { base, parts } = splitDocument(document, owners);
  const fileOf = (name: string) => join(packagesFolder, name, 'openapi.json');
  return new Map([
    [fileOf('http'), textOf(base)] as const,
    ...[...parts].map(([name, part]) => [fileOf(name), textOf(part)] as const),
  ]);
}

async function writeSnapshots(data: string): Promise<void> {
  const { config } = loadConfig({ env: {}, flags: { data, port: 0, seed: 'none', only: 'api' } });
  const server = await startServer({ config, log: openLog({ level: 'warn' }) });
  try {
    const response = await fetch(`${server.transport?.url}/openapi.json`);
    for (const [file, text] of await apiSnapshots(server.runtime, (await response.json()) as ApiDocument)) {
      await writeFile(file, text);
      process.stdout.write(`${relative(process.cwd(), file)} written\n`);
    }
  } finally {
    await server.stop();
  }
}

if (import.meta.main) {
  const data = await mkdtemp(join(tmpdir(), 'tradepost-openapi-'));
  await writeSnapshots(data).finally(() => rm(data, { recursive: true, force: true }));
}
