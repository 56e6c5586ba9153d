import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@tradepost/embedded-postgres';
import { openDatabase } from '@tradepost/postgres';
import { migrateDatabase } from '@tradepost/runtime';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Connection string of the run's cluster. Its database `template_shop` is migrated and empty. */
    clusterUrl: string;
  }
}

export const templateDatabase = 'template_shop';

/** Copies the files of the template. The default strategy also writes every page to the log, and takes half as long again. */
export const cloneStatement = (name: string, template = templateDatabase) =>
  `create database ${name} template ${template} strategy file_copy`;

/** Starts one PostgreSQL server for the run, with one migrated template database. Each test file clones it (`cloneDatabase`). */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'tradepost-test-'));
  // As root, the server runs as another user. That user must be able to enter the directory.
  await chmod(directory, 0o755);
  const cluster = await startEmbeddedPostgres({
    directory,
    // The data is deleted after the run, so it need not be flushed to disk. It may be in memory, so its log is short.
    settings: { fsync: 'off', full_page_writes: 'off', max_connections: '300', max_wal_size: '512MB' },
  });
  const admin = openDatabase(cluster.url, { max: 1 });
  await admin.unsafe(`create database ${templateDatabase}`);
  await admin.end();
  const url = new URL(cluster.url);
  url.pathname = `/${templateDatabase}`;
  await migrateDatabase(url.toString());
  project.provide('clusterUrl', cluster.url);
  return async () => {
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  };
}
