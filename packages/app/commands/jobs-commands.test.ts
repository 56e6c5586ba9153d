import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';

let database: TestDatabase;
type Ids = { waiting: string; later: string; failed: string; other: string; running: string };
let ids: Ids;

/** Adds one job in each state. */
beforeEach(async () => {
  database ??= await cloneDatabase();
  await database.sql`delete from graphile_worker._private_jobs`;
  const add = async (task: string, change = '') => {
    const [row] = await database.sql<{ id: number }[]>`
      select (graphile_worker.add_job(${task}, '{"order": 7}', max_attempts => 3)).id`;
    if (change) await database.sql.unsafe(`update graphile_worker._private_jobs set ${change} where id = ${row!.id}`);
    return String(row!.id);
  };
  const gaveUp = `attempts = 3, last_error = E'no answer from the carrier\n    at line 2'`;
  ids = {
    waiting: await add('carrier.sync'),
    later: await add('carrier.sync', `run_at = now() + interval '1 day', attempts = 1, last_error = 'busy'`),
    failed: await add('carrier.sync', gaveUp),
    other: await add('mail.send', gaveUp),
    running: await add('mail.send', `attempts = 1, locked_at = now(), locked_by = 'worker-1'`),
  };
});
afterAll(() => database?.drop());

const jobs = (...args: string[]) => runCommandInProcess(['jobs', ...args, '--database-url', database.url]);
const listed = async (...args: string[]): Promise<string[]> => {
  const { code, stdout } = await jobs('list', '--json', ...args);
  expect(code).toBe(0);
  return JSON.parse(stdout).jobs.map((job: { id: number }) => String(job.id));
};
const row = async (id: string) =>
  (
    await database.sql<{ attempts: number; due: boolean }[]>`
      select attempts, run_at <= now() as due from graphile_worker._private_jobs where id = ${Number(id)}`
  )[0];

describe('list', () => {
  test('shows what failed first, with attempts, next run and the first line of the error', async () => {
    const { code, stdout } = await jobs('list');
    expect(code).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toMatch(/^ID +TASK +STATE +ATTEMPTS +NEXT RUN +LAST ERROR$/);
    expect(lines[1]).toMatch(new RegExp(`^${ids.failed} +carrier.sync +failed +3/3 +- +no answer from the carrier$`));
    expect(stdout).toMatch(new RegExp(`^${ids.later} +carrier.sync +waiting +1/3 +20\\S+\\+08:00 +busy$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^${ids.running} +mail.send +running +1/3 +since 20\\S+\\+08:00`, 'm'));
    expect(stdout).not.toContain('at line 2');
  });

  test('filters by state and task, and says when there are more', async () => {
    expect(await listed('--failed')).toEqual([ids.failed, ids.other]);
    expect(await listed('--waiting')).toEqual([ids.waiting, ids.later]);
    expect(await listed('--running')).toEqual([ids.running]);
    expect(await listed('--failed', '--running', '--task', 'mail.send')).toEqual([ids.other, ids.running]);
    expect(await listed('--task', 'nothing')).toEqual([]);
    const { stdout } = await jobs('list', '--limit', '2');
    expect(stdout).toContain('2 of 5');
    expect(await jobs('list', '--limit', '0')).toMatchObject({ code: 2 });
  });
});

test('show prints one job; it fails when the job does not exist', async () => {
  const { code, stdout } = await jobs('show', ids.failed);
  expect(code).toBe(0);
  expect(stdout).toContain('{"order":7}');
  expect(stdout).toContain('at line 2');
  expect(JSON.parse((await jobs('show', ids.failed, '--json')).stdout)).toMatchObject({
    task: 'carrier.sync',
    state: 'failed',
    payload: { order: 7 },
  });
  expect(await jobs('show', '999999')).toMatchObject({ code: 1, stderr: expect.stringContaining('999999') });
  expect(await jobs('show', 'seven')).toMatchObject({ code: 2 });
});

describe('retry', () => {
  test('makes jobs due now and resets their attempts', async () => {
    expect(await jobs('retry', ids.failed, ids.later)).toMatchObject({ code: 0 });
    expect(await row(ids.failed)).toEqual({ attempts: 0, due: true });
    expect(await row(ids.later)).toEqual({ attempts: 0, due: true });
    expect(await row(ids.other)).toEqual({ attempts: 3, due: true });
  });

  test('chooses by state and task, and leaves running jobs alone', async () => {
    const failed = await jobs('retry', '--failed', '--task', 'mail.send', '--json');
    expect(JSON.parse(failed.stdout)).toEqual({ retried: [Number(ids.other)], unknown: [], running: [] });
    expect(await listed('--failed')).toEqual([ids.failed]);
    const task = await jobs('retry', '--task', 'mail.send', '--json');
    expect(task.code).toBe(0);
    expect(JSON.parse(task.stdout)).toEqual({
      retried: [Number(ids.other)],
      unknown: [],
      running: [Number(ids.running)],
    });
    expect(await row(ids.running)).toMatchObject({ attempts: 1 });
    expect((await jobs('retry', '--failed')).stdout).toContain(ids.failed);
    expect((await jobs('retry', '--failed')).stdout).toContain('no jobs');
  });

  test('a number that is unknown or running: nothing is changed, and it fails', async () => {
    for (const wrong of ['999999', ids.running]) {
      const { code, stderr } = await jobs('retry', ids.failed, wrong);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(wrong) });
    }
    expect(await row(ids.failed)).toMatchObject({ attempts: 3 });
    expect(await jobs('retry', '999999')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('999999'),
    });
  });

  test.each([[], ['7', '--failed'], ['seven']])('wrong usage ends with 2: %j', async (...args) => {
    expect(await jobs('retry', ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining('error:') });
  });
});

describe('discard', () => {
  test('removes jobs, but never one that runs or is not there', async () => {
    expect(await jobs('discard', ids.failed, ids.running)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`job ${ids.running}: runs`),
    });
    expect(await jobs('discard', '999999')).toMatchObject({ code: 1 });
    expect(await listed()).toHaveLength(5);
    expect(await jobs('discard', ids.failed, ids.waiting)).toMatchObject({ code: 0 });
    expect(await listed()).toEqual([ids.other, ids.running, ids.later]);
    expect(await jobs('discard')).toMatchObject({ code: 2 });
  });

  test('the lock of a worker that died hours ago does not count', async () => {
    await database.sql`update graphile_worker._private_jobs set locked_at = now() - interval '5 hours' where locked_at is not null`;
    expect(await listed('--running')).toEqual([]);
    expect(await jobs('discard', ids.running)).toMatchObject({ code: 0 });
  });
});
