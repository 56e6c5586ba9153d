import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@tradepost/embedded-postgres';
import { openDatabase } from '@tradepost/postgres';
import { backupErrors } from '../errors.ts';
import { createTemporary, dropTemporary, selectAbandoned } from './temporary-store.ts';

const mayNotCreate = '42501';

/** Runs `work` with a new database on the server of `serverUrl`, and drops it. Those of killed processes are dropped too. */
async function withDatabaseOn<T>(serverUrl: string, work: (url: string) => Promise<T>): Promise<T> {
  const admin = openDatabase(serverUrl, { max: 1, name: 'tradepost verify', maxLifetimeSeconds: null });
  const url = new URL(serverUrl);
  // The time is in the name, because PostgreSQL does not say how old a database is.
  const name = `tradepost_verify_${Math.floor(Date.now() / 1000)}_${randomBytes(4).toString('hex')}`;
  url.pathname = `/${name}`;
  try {
    for (const abandoned of await selectAbandoned(admin)) await dropTemporary(admin, abandoned).catch(() => {});
    await createTemporary(admin, name).catch((error: unknown) => {
      throw (error as { code?: string }).code === mayNotCreate ? backupErrors.cannot_create_database() : error;
    });
    try {
      return await work(url.toString());
    } finally {
      await dropTemporary(admin, name);
    }
  } finally {
    await admin.end({ timeout: 1 });
  }
}

/**
 * Runs `work` with the URL of an empty temporary database: on the server of `serverUrl`, or in an embedded PostgreSQL of its own
 * in a temporary folder.
 */
export async function withTemporaryDatabase<T>(
  serverUrl: string | undefined,
  work: (url: string) => Promise<T>,
): Promise<T> {
  if (serverUrl) return withDatabaseOn(serverUrl, work);
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-verify-'));
  try {
    const server = await startEmbeddedPostgres({
      directory: folder,
      // Nothing of it is kept.
      settings: { fsync: 'off', full_page_writes: 'off' },
    });
    try {
      return await work(server.url);
    } finally {
      await server.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
