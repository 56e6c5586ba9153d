import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@tradepost/embedded-postgres';
import { openDatabase } from '@tradepost/postgres';
import { backupErrors } from '../errors.ts';
import { folderPrefix, removeAbandonedDatabases, removeAbandonedFolders, removeFolder } from './abandoned.ts';
import { createTemporary, dropTemporary } from './temporary-store.ts';

const mayNotCreate = '42501';

/** Runs `work`. When `signal` aborts, `end` takes the database away from it, so that it does not run on for long. */
async function untilAborted<T>(signal: AbortSignal, end: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const onAbort = () => void end().catch(() => {});
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    // The lost connection is not the reason.
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

type Work<T> = (url: string) => Promise<T>;

/** Runs `work` with a new database on the server of `serverUrl`, and drops it. */
async function withDatabaseOn<T>(serverUrl: string, work: Work<T>, signal: AbortSignal): Promise<T> {
  const admin = openDatabase(serverUrl, { max: 1, name: 'tradepost verify', maxLifetimeSeconds: null });
  const url = new URL(serverUrl);
  // The time is in the name, because PostgreSQL does not say how old a database is.
  const name = `tradepost_verify_${Math.floor(Date.now() / 1000)}_${randomBytes(4).toString('hex')}`;
  url.pathname = `/${name}`;
  const drop = () => dropTemporary(admin, name);
  try {
    await removeAbandonedDatabases(admin);
    await createTemporary(admin, name).catch((error: unknown) => {
      throw (error as { code?: string }).code === mayNotCreate ? backupErrors.cannot_create_database() : error;
    });
    try {
      return await untilAborted(signal, drop, () => work(url.toString()));
    } finally {
      await drop();
    }
  } finally {
    await admin.end({ timeout: 1 });
  }
}

/** Runs `work` with an embedded PostgreSQL in a temporary folder, and removes both. */
async function withServer<T>(work: Work<T>, signal: AbortSignal): Promise<T> {
  await removeAbandonedFolders();
  const folder = await mkdtemp(join(tmpdir(), folderPrefix()));
  try {
    const server = await startEmbeddedPostgres({
      directory: folder,
      // Nothing of it is kept.
      settings: { fsync: 'off', full_page_writes: 'off' },
    });
    try {
      return await untilAborted(signal, server.stop, () => work(server.url));
    } finally {
      await server.stop();
    }
  } finally {
    await removeFolder(folder);
  }
}

/**
 * Runs `work` with the URL of an empty temporary database: on the server of `serverUrl`, or in an embedded PostgreSQL of its own
 * in a temporary folder. It is removed at the end and when `signal` aborts; the next call removes what a killed process has left.
 */
export const withTemporaryDatabase = <T>(
  serverUrl: string | undefined,
  work: Work<T>,
  signal: AbortSignal = new AbortController().signal,
): Promise<T> => (serverUrl ? withDatabaseOn(serverUrl, work, signal) : withServer(work, signal));
