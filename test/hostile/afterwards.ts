import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from '../faults/scenario.ts';
import { until } from '../faults/stage.ts';
import type { Scenario } from '../harness/scenario-cli.ts';
import { type Arena, openArena, type Target } from './arena.ts';
import { nothingYet, type Outcome } from './attack.ts';
import { openWitness } from './witness.ts';

/** Resident megabytes that a server may keep above those before the first attack, after a collection. */
const keptMb = 160;
/** Time for connections and bodies to be given up, and for jobs to end. */
const settleSeconds = 30;
/** Bytes of log that attacks may cause. */
const logBytes = 1024 * 1024;

/** 503 is meant; every other answer of this class is a fault of the server. */
const unexpected = (code: number) => code >= 500 && code < 600 && code !== 503;

/** Requests by code, as the server itself has counted them. */
function wrongCodes(metrics: string): string[] {
  const counted = /^(http_requests_total|gateway_requests_total)\{(.*)\} (\d+)/gm;
  return [...metrics.matchAll(counted)].flatMap(([, name, labels, count]) => {
    const code = Number(/(?:code|status)="(\d+)"/.exec(labels!)?.[1]);
    return unexpected(code) && Number(count) > 0 ? [`${name}{${labels}} counts ${count}`] : [];
  });
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
  if (target.exitCode() !== null) return void fault(`the server ended with ${target.exitCode()}`);
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
  const mb = await target.collected();
  outcome.peakMb = Math.max(outcome.peakMb, Math.round(mb));
  if (mb - target.startMb > keptMb)
    fault(`${Math.round(mb)} MB after a collection, ${Math.round(target.startMb)} before (at most ${keptMb} more)`);
  for (const text of wrongCodes(await target.metrics())) fault(text);
  for (const line of failuresIn(target.output()).slice(0, 5)) fault(`in the log: ${line}`);
  if (target.output().length > logBytes) fault(`${target.output().length} bytes of log`);
}

/** After the attacks: the servers are what they were, and the books are right. */
export const afterwards: Scenario<Outcome> = {
  name: 'afterwards',
  about: 'both servers up, memory back, no 5xx but 503, no failure in the log, every audit clean',
  async run(ground) {
    const arena = await openArena(ground.clusterUrl);
    const outcome = nothingYet();
    for (const target of arena.targets) await settled(arena, target, outcome);
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
    return outcome;
  },
};
