import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from '@tradepost/testing/processes/scenario-cli';
import { audit } from '../faults/scenario.ts';
import { until } from '../faults/test-shop.ts';
import { emptyOutcome, type Outcome } from './attack.ts';
import { startOrdinaryLoad } from './ordinary-load.ts';
import { openTestServers, type Target, type TestServers } from './test-servers.ts';

/**
 * Megabytes that a server may need more than before the first attack, after a collection. Memory of objects is freed. The
 * allocator returns some freed memory to the system late, and uses it again.
 */
const kept = { live: 40, resident: 250 } as const;
/** Time for the server to close dead connections, and for jobs to end. */
const settleSeconds = 30;
/** A server without work ends at once. With an open answer it waits for its deadline of 15 s. */
const stopSeconds = 8;
/** Bytes of log that all attacks may cause. */
const logBytes = 1024 * 1024;

/** 5xx answers in the metrics of the gateway, except 503. Errors of the API are in the log. */
function wrongStatuses(metrics: string): string[] {
  const counted = /^gateway_requests_total\{.*status="(5\d\d)".*\} (\d+)/gm;
  return [...metrics.matchAll(counted)].flatMap(([line, status, count]) =>
    status !== '503' && Number(count) > 0 ? [line] : [],
  );
}

const failure = /a request failed|a gateway request failed|unhandled rejection|a write was refused/;

/** Log lines about faults of the shop. */
const failuresIn = (output: string) =>
  output
    .split('\n')
    .filter((line) => failure.test(line))
    .map((line) => line.slice(0, 400));

const kinds = ['live', 'resident'] as const;
const moreThanBefore = (target: Target, memory: Target['start'], kind: (typeof kinds)[number]) =>
  Math.round(memory[kind] - target.start[kind]);

/** Memory after a collection. A server that has more than it may keep gets five collections: freed memory is returned late. */
async function settledMemory(target: Target): Promise<Target['start']> {
  for (let collection = 1; ; collection += 1) {
    const memory = await target.collected();
    const within = kinds.every((kind) => moreThanBefore(target, memory, kind) <= kept[kind]);
    if (within || collection === 5) return memory;
    await sleep(2_000);
  }
}

async function checkServer(servers: TestServers, target: Target, outcome: Outcome): Promise<void> {
  const fault = (text: string) => outcome.faults.push(`${target.name}: ${text}`);
  if (target.ended() !== null) return void fault(`the server ended with ${target.ended()}`);
  for (const path of ['/health', '/ready']) {
    const { status } = await fetch(target.api.url + path, { signal: AbortSignal.timeout(10_000) });
    if (status !== 200) fault(`${path} answers ${status}`);
  }
  const ordinaryLoad = startOrdinaryLoad(servers, target);
  await sleep(500);
  const { faults, purchases, p99Ms } = await ordinaryLoad.end();
  outcome.purchases += purchases;
  outcome.p99Ms = Math.max(outcome.p99Ms, Math.round(p99Ms));
  for (const text of faults) fault(text);
  await until(
    'dead connections are closed',
    async () => (await target.metric('process_open_fds')) < 150,
    settleSeconds,
  ).catch((error: Error) => fault(error.message));
  const memory = await settledMemory(target);
  outcome.peakMb = Math.max(outcome.peakMb, Math.round(memory.resident));
  for (const kind of kinds) {
    const more = moreThanBefore(target, memory, kind);
    if (more > kept[kind]) fault(`keeps ${more} MB more ${kind} memory than before (at most ${kept[kind]})`);
  }
  for (const text of wrongStatuses(await target.metrics())) fault(text);
  for (const line of failuresIn(target.output()).slice(0, 5)) fault(`in the log: ${line}`);
  if (target.output().length > logBytes) fault(`${target.output().length} bytes of log`);
}

/** Checks servers, memory, log and data after all attacks. */
export const afterwards: Scenario<Outcome> = {
  name: 'afterwards',
  about:
    'both servers ready, memory released, no 5xx except 503, no failure in the log, every audit clean; then both stop at once',
  async run(environment) {
    const servers = await openTestServers(environment.clusterUrl);
    const outcome = emptyOutcome();
    for (const target of servers.targets)
      await checkServer(servers, target, outcome).catch((error: Error) =>
        outcome.faults.push(`${target.name}: ${error.stack}`),
      );
    await until(
      'jobs are done',
      async () => {
        const [row] = await servers.sql<{ due: number }[]>`
          select count(*)::int as due from graphile_worker.jobs where run_at <= now() and attempts < max_attempts`;
        return row!.due === 0;
      },
      settleSeconds,
    ).catch((error: Error) => outcome.faults.push(error.message));
    await audit(servers.sql, Object.assign(outcome, { auditMs: 0 }));
    for (const target of servers.targets) {
      const begun = performance.now();
      const code = await target.stop();
      const seconds = (performance.now() - begun) / 1000;
      if (code !== 0 || seconds > stopSeconds)
        outcome.faults.push(
          `${target.name}: ends with ${code} ${seconds.toFixed(1)} s after SIGTERM (0 within ${stopSeconds})`,
        );
    }
    return outcome;
  },
};
