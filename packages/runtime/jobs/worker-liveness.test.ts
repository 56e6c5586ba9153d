import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

/** Another worker gets the jobs of a killed worker within a minute. A paused worker keeps its jobs. */
let database: TestDatabase;
const children: ChildProcess[] = [];
beforeEach(async () => {
  database = await cloneDatabase();
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await new Promise((ended) => child.once('close', ended));
  }
  await database.drop();
});

type HangingWorker = { child: ChildProcess; took: number[] };
async function startHanging(concurrency = 1): Promise<HangingWorker> {
  const script = join(import.meta.dirname, '../../testing/processes/hanging-worker.ts');
  const child = spawn(process.execPath, [script, database.url, String(concurrency)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const worker: HangingWorker = { child, took: [] };
  const { promise, resolve } = Promise.withResolvers<void>();
  child.stdout!.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n')) {
      if (line === 'ready') resolve();
      else if (line.startsWith('took ')) worker.took.push(Number(line.slice(5)));
    }
  });
  await promise;
  return worker;
}
const addHanging = (n: number) =>
  database.sql`select graphile_worker.add_job('hang', ${database.sql.json({ n })}::json)`;
const until = (holds: () => void | Promise<void>, timeout: number) => vi.waitFor(holds, { timeout, interval: 100 });

describe('jobs of a worker that has ended', () => {
  test('after kill -9 they run again within a minute; a paused worker keeps its jobs', async () => {
    await addHanging(1);
    const paused = await startHanging();
    await until(() => expect(paused.took).toEqual([1]), 20_000);
    await addHanging(2);
    const killed = await startHanging();
    await until(() => expect(killed.took).toEqual([2]), 20_000);
    const successor = await startHanging(2);
    paused.child.kill('SIGSTOP');
    killed.child.kill('SIGKILL');
    // The heartbeats of the paused worker end long before those of the killed one.
    const aged = await database.sql`
      update runtime.workers set seen_at = seen_at - interval '1 hour'
      where id = (select locked_by from graphile_worker.jobs order by id limit 1)`;
    expect(aged.count).toBe(1);
    await until(() => expect(successor.took).toEqual([2]), 60_000);
    // A new worker searches for ended workers at once.
    const last = await startHanging();
    await sleep(1_000);
    expect([successor.took, last.took]).toEqual([[2], []]);
    paused.child.kill('SIGCONT');
    const locked = await database.sql<{ workers: number }[]>`
      select count(distinct locked_by)::int as workers from graphile_worker.jobs where locked_by is not null`;
    expect(locked[0]!.workers).toBe(2);
  }, 120_000);
});
