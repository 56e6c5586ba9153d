import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from '@tradepost/testing/processes/scenario-cli';
import { audit } from '../faults/scenario.ts';
import { until } from '../faults/test-shop.ts';
import { type Arena, openArena, type Target } from './arena.ts';
import { emptyOutcome, type Outcome } from './attack.ts';
import { openWitness } from './witness.ts';

/**
 * Megabytes that a server may keep above those before the first attack, after a collection. What its objects take comes
 * back; of freed memory the allocator gives some to the system late, and uses it again.
 */
const kept = { live: 40, resident: 250 } as const;
/** Time for connections and bodies to be given up, and for jobs to end. */
const settleSeconds = 30;
/** A server with nothing left to do ends at once; with an answer that it still holds it waits for its deadline of 15 s. */
const stopSeconds = 8;
/** Bytes of log that attacks may cause. */
const logBytes = 1024 * 1024;

/** Answers of the gateway by status, as it has counted them itself. Of the API's own errors the log speaks. */
function wrongStatuses(metrics: string): string[] {
  const counted = /^gateway_requests_total\{.*status="(5\d\d)".*\} (\d+)/gm;
  return [...metrics.matchAll(counted)].flatMap(([line, status, count]) =>
    status !== '503' && Number(count) > 0 ? [line] : [],
  );
}

const failure = /a request failed|a gateway request failed|unhandled rejection|refused by the books/;

/** Lines of the log that speak of a fault of our own. */
const failuresIn = (output: string) =>
  output
    .split('\n')
    .filter((line) => failure.test(line))
    .map((line) => line.slice(0, 400));

async function settled(arena: Arena, target: Target, outcome: Outcome): Promise<void> {
  const fault = (text: string) => outcome.faults.push(`${target.name}: ${text}`);
  if (target.ended() !== null) return void fault(`the server ended with ${target.ended()}`);
  for (const path of ['/health', '/ready']) {
    const { status } = await fetch(target.api.url + path, { signal: AbortSignal.timeout(10_000) });
    if (status !== 200) fault(`${path} answers ${status}`);
  }
  const witness = openWitness(arena, target);
  await sleep(500);
  const { faults, purchases, p99Ms } = await witness.end();
  outcome.purchases += purchases;
  outcome.p99Ms = Math.max(outcome.p99Ms, Math.round(p99Ms));
  for (const text of faults) fault(text);
  await until(
    'connections are given up',
    async () => (await target.metric('process_open_fds')) < 150,
    settleSeconds,
  ).catch((error: Error) => fault(error.message));
  const memory = await target.collected();
  outcome.peakMb = Math.max(outcome.peakMb, Math.round(memory.resident));
  for (const kind of ['live', 'resident'] as const) {
    const more = Math.round(memory[kind] - target.start[kind]);
    if (more > kept[kind]) fault(`keeps ${more} MB more ${kind} memory than before (at most ${kept[kind]})`);
  }
  for (const text of wrongStatuses(await target.metrics())) fault(text);
  for (const line of failuresIn(target.output()).slice(0, 5)) fault(`in the log: ${line}`);
  if (target.output().length > logBytes) fault(`${target.output().length} bytes of log`);
}

/** After the attacks: the servers are what they were, and the books are right. */
export const afterwards: Scenario<Outcome> = {
  name: 'afterwards',
  about:
    'both servers up, memory back, no 5xx but 503, no failure in the log, every audit clean; then they stop at once',
  async run(ground) {
    const arena = await openArena(ground.clusterUrl);
    const outcome = emptyOutcome();
    for (const target of arena.targets)
      await settled(arena, target, outcome).catch((error: Error) =>
        outcome.faults.push(`${target.name}: ${error.stack}`),
      );
    await until(
      'jobs are done',
      async () => {
        const [row] = await arena.sql<{ due: number }[]>`
          select count(*)::int as due from graphile_worker.jobs where run_at <= now() and attempts < max_attempts`;
        return row!.due === 0;
      },
      settleSeconds,
    ).catch((error: Error) => outcome.faults.push(error.message));
    await audit(arena.sql, Object.assign(outcome, { auditMs: 0 }));
    for (const target of arena.targets) {
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
