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

/** Starts one PostgreSQL server for the run, with one migrated template database. Each test file clones it (`cloneDatabase`). */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'tradepost-test-'));
  // As root, the server runs as another user. That user must be able to enter the directory.
  await chmod(directory, 0o755);
  const cluster = await startEmbeddedPostgres({
    directory,
    // The data is deleted after the run, so it need not be flushed to disk.
    settings: { fsync: 'off', full_page_writes: 'off', max_connections: '300' },
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
