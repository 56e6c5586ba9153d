import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audits } from '@tradepost/app';
import { auditPassed } from '@tradepost/runtime';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openBackup } from '../places/open-place.ts';
import { type OpenedBackup, withBackup } from '../restore/read-parts.ts';
import { verifyBackup } from './verify-backup.ts';

/** Between a backup and its check or restore time passes. What the workers of the shop were about to do then looks late. */
vi.setConfig({ testTimeout: 120_000 });

const hour = 3_600_000;
let database: TestDatabase;
let folder: string;
let file: string;
const run = (...args: string[]) => runCommandInProcess(args, { env: { DATABASE_URL: database.url } });
beforeAll(async () => {
  database = await cloneDatabase();
  folder = await mkdtemp(join(tmpdir(), 'tradepost-verify-backup-'));
  file = join(folder, 'shop.tar');
  // An event and a job that no worker has seen, and a message that the reader of an event was about to delete with its account.
  await database.sql.unsafe(`
    insert into runtime.outbox (name, subject, data, occurred_at) values ('order.paid', '1', '{}', now() - interval '2 hours');
    select graphile_worker.add_job('test.late', run_at => now() - interval '2 hours');
    with gone as (
      insert into identity.shoppers (nickname, status, deleted_at) values ('Ann', 0, now() - interval '2 hours') returning id)
    insert into message_centre.messages (user_id, message_group, title, content, created_at)
      select id, 'system', 'Welcome', 'Hello', now() - interval '3 hours' from gone`);
  expect(await run('backup', 'create', file, '--uploads', 'none')).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

/** The names of the audits that fail in a backup of this age. */
const failedAtAge = (ageMs: number) =>
  withBackup(
    openBackup(file, () => expect.fail('no bucket is used')),
    async (backup: OpenedBackup) => {
      const snapshot_at = new Date(Date.now() - ageMs).toISOString();
      const aged = { ...backup, manifest: { ...backup.manifest, snapshot_at } };
      const results = await verifyBackup(aged, { audits, serverUrl: database.url });
      expect(results.length).toBeGreaterThan(100);
      return results.filter((result) => !auditPassed(result)).map(({ name }) => name);
    },
  );

test('a backup is checked as of its own time, and late work does not make it a bad one', async () => {
  // When this backup was made the account had been deleted for ten minutes. An hour is allowed.
  expect(await failedAtAge(hour + 50 * 60_000)).toEqual([]);
  // In a backup of now the message is a fault of the data.
  expect(await failedAtAge(0)).toEqual(['message_centre.receivers']);
});

test('an audit with the time of a backup finds what was late then', async () => {
  const audit = async (...args: string[]) => {
    const { code, stdout } = await run('audit', '--json', ...args);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; total: number; error: string | null }[] };
    expect(checks.length).toBe(audits.length);
    return { code, failed: checks.filter(({ total, error }) => total > 0 || error).map(({ name }) => name) };
  };
  const time = (ago: number) => new Date(Date.now() - ago).toISOString();
  expect(await audit('--at', time(hour + 55 * 60_000))).toEqual({ code: 0, failed: [] });
  const late = ['message_centre.receivers', 'runtime.events_late', 'runtime.jobs_late'];
  expect(await audit()).toEqual({ code: 1, failed: expect.arrayContaining(late) });
  expect(await audit('--at', time(hour + 30 * 60_000))).toEqual({
    code: 1,
    failed: expect.arrayContaining(['runtime.events_late', 'runtime.jobs_late']),
  });
  for (const wrong of ['yesterday', '2026-03-01', '2026-13-01T00:00:00Z'])
    expect(await run('audit', '--at', wrong)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('It must be a time such as 2026-03-01T03:30:00Z.'),
    });
});
