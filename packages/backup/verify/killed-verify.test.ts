import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { commandEnvironment } from '@tradepost/testing/processes/process';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { removeAbandonedDatabases, removeAbandonedFolders } from './abandoned.ts';
import { withTemporaryDatabase } from './temporary-database.ts';

/** A verification that is interrupted leaves no copy of the shop behind. */
vi.setConfig({ testTimeout: 120_000 });

const script = join(import.meta.dirname, '../../../bin/tradepost.ts');
let database: TestDatabase;
let folder: string;
let file: string;
beforeAll(async () => {
  database = await cloneDatabase();
  folder = await mkdtemp(join(tmpdir(), 'tradepost-killed-'));
  file = join(folder, 'shop.tar');
  const env = { DATABASE_URL: database.url };
  expect(await runCommandInProcess(['backup', 'create', file, '--uploads', 'none'], { env })).toMatchObject({
    code: 0,
  });
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const temporary = async () =>
  (
    await database.sql<{ datname: string }[]>`select datname from pg_database where datname like 'tradepost_verify_%'`
  ).map(({ datname }) => datname);

/** Starts a verification and ends it with a signal when `isReached` answers true. Resolves with its exit code and its output. */
async function interrupt(
  signal: NodeJS.Signals,
  env: Record<string, string>,
  isReached: () => Promise<boolean>,
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [script, 'backup', 'verify', file], {
    env: commandEnvironment(env),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = once(child, 'close');
  while (!(await isReached())) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${stderr}`);
    await sleep(10);
  }
  child.kill(signal);
  const [code] = await ended;
  return { code: code as number | null, stderr };
}

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

test('Ctrl-C drops its database on the server', async () => {
  const env = { DATABASE_URL: database.url };
  const ended = await interrupt('SIGINT', env, async () => (await temporary()).length > 0);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(/^error: .*abort/m);
  expect(await temporary()).toEqual([]);
});

test('after kill -9 its database is dropped by the worker or by the next verification', async () => {
  await interrupt('SIGKILL', { DATABASE_URL: database.url }, async () => (await temporary()).length > 0);
  const [left] = await temporary();
  // It is too young to be taken for abandoned: another process may be about to connect to it.
  await removeAbandonedDatabases(database.sql);
  expect(await temporary()).toEqual([left]);
  const older = left!.replace(/_\d+_/, '_1700000000_');
  const rename = () => database.sql.unsafe(`alter database ${left} rename to ${older}`);
  // The server notices the end of the killed process in a moment.
  await expect
    .poll(
      () =>
        rename().then(
          () => true,
          () => false,
        ),
      { timeout: 20_000 },
    )
    .toBe(true);
  await removeAbandonedDatabases(database.sql);
  expect(await temporary()).toEqual([]);
});

test('after kill -9 its own server is stopped and removed, wherever its data is', async () => {
  const own = join(folder, 'tmp');
  const { TMPDIR } = process.env;
  await mkdir(own);
  process.env.TMPDIR = own;
  try {
    let port = 0;
    let data = '';
    await interrupt('SIGKILL', { TMPDIR: own }, async () => {
      const [name] = await readdir(own);
      if (!name) return false;
      const pointer = await readFile(join(own, name, 'cluster-location'), 'utf8').catch(() => '');
      data = join(pointer.trim() || join(own, name), 'cluster/data');
      const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '');
      port = text.includes('ready') ? Number(text.split('\n')[3]) : 0;
      return port > 0;
    });
    expect(await isListening(port)).toBe(true);
    await removeAbandonedFolders();
    expect(await readdir(own)).toEqual([]);
    await expect(stat(data)).rejects.toThrow('ENOENT');
    expect(await isListening(port)).toBe(false);
    const pointers = await withTemporaryDatabase(undefined, async () => {
      const [name] = await readdir(own);
      return readFile(join(own, name!, 'cluster-location'), 'utf8').catch(() => '');
    });
    expect(await readdir(own)).toEqual([]);
    if (pointers !== '') await expect(stat(pointers.trim())).rejects.toThrow('ENOENT');
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
});
