import { setTimeout as sleep } from 'node:timers/promises';
import { openAdmin } from '@tradepost/http';
import { type CommandContext, staticEntriesOf } from '@tradepost/module';
import { ConfigError, exposeJobs, type Runtime } from '@tradepost/runtime';
import {
  asCalled,
  exitCodes,
  type GlobalOptions,
  green,
  print,
  printJson,
  red,
  stopSignal,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import type { Command } from 'commander';
import { carriers } from '../drivers/driver.ts';
import { pollingEnabled, routerEnabled } from '../settings.ts';
import { type Polled, pollShipments } from '../sync/poll-shipments.ts';
import { openSyncDeps, ownTransaction, type SyncDeps } from '../sync/sync-deps.ts';
import { syncShipments } from '../sync/sync-shipments.ts';

type SyncOptions = GlobalOptions & { once?: boolean; adminPort?: string; shipment?: number };
type Totals = Omit<Polled, 'next_due'>;
type Run = {
  readonly deps: SyncDeps;
  readonly json: boolean;
  readonly stopping: AbortSignal;
  readonly abort: AbortSignal;
};

/** The longest pause between two polls. New shipments are due at once. */
const longestPauseMs = 5_000;
const shortestPauseMs = 250;

/** Why nothing is polled; null when shipments are. Throws ConfigError when a poll can not succeed. */
function idleReason({ runtime: { settings }, router }: SyncDeps): string | null {
  if (!settings.get(routerEnabled)) return 'carrier sync is off: logistics_router.enabled is false';
  if (!settings.get(pollingEnabled))
    return asCalled('polling is off: tradepost settings set logistics_router.polling_enabled true');
  const missing = router.missing();
  if (missing.length > 0) throw new ConfigError(missing.map((key) => `${key}: a carrier service needs it`));
  return null;
}

const noTotals = (): Totals => ({ queried: 0, found: 0, failed: 0, postponed: 0 });

const summary = ({ queried, found, failed, postponed }: Totals): string =>
  `${queried} ${queried === 1 ? 'shipment' : 'shipments'} queried: ${found} found, ${failed} failed` +
  (postponed > 0 ? `, ${postponed} postponed` : '');

const nextLine = (next: Date | null): string => {
  if (!next) return 'no shipment is on its way';
  const seconds = Math.ceil((next.getTime() - Date.now()) / 1000);
  return seconds > 0 ? `the next is due in ${seconds} s` : 'the next is due now';
};

/** Queries all shipments that are due, then ends. */
async function drain({ deps, json, stopping, abort }: Run): Promise<void> {
  const reason = idleReason(deps);
  if (reason) return json ? printJson({ ...noTotals(), next_due: null, idle: reason }) : print(reason);
  const polled = await pollShipments(deps, { signal: stopping, abort });
  if (json) return printJson({ ...polled, stopped: stopping.aborted });
  print(`${polled.failed > 0 ? red('failed') : green('synced')}  ${summary(polled)}`);
  print(stopping.aborted ? 'stopped before all due shipments were queried' : nextLine(polled.next_due));
}

/** Polls until the process is stopped, with an admin listener. */
async function serve(run: Run, runtime: Runtime, version: string): Promise<void> {
  exposeJobs(runtime);
  const admin = await openAdmin(runtime, version);
  try {
    await poll(run, admin?.url);
  } finally {
    await admin?.close(500);
  }
}

/** A fault of the database ends one poll, and the next one tries again. */
async function poll({ deps, json, stopping, abort }: Run, admin: string | undefined): Promise<void> {
  const { log } = deps.runtime;
  const totals = noTotals();
  const say = (event: string, text: string, values: object) =>
    json ? print(JSON.stringify({ event, ...values })) : print(text);
  let idle = idleReason(deps);
  say('ready', `Syncing shipments with their carriers (pid ${process.pid})`, { pid: process.pid, admin, idle });
  if (admin && !json) print(`Admin ${admin}/ready`);
  if (idle && !json) print(idle);
  while (!stopping.aborted) {
    let pauseMs = longestPauseMs;
    try {
      const before = idle;
      idle = idleReason(deps);
      if (idle !== before) say('polling', idle ?? 'polling is on', { idle });
      if (!idle) {
        const { next_due, ...polled } = await pollShipments(deps, { signal: stopping, abort });
        for (const key of Object.keys(totals) as (keyof Totals)[]) totals[key] += polled[key];
        if (next_due) pauseMs = Math.min(Math.max(next_due.getTime() - Date.now(), shortestPauseMs), longestPauseMs);
      }
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      log.warn({ err: error }, 'a poll of carriers has failed');
    }
    await sleep(pauseMs, undefined, { signal: stopping }).catch(() => {});
  }
  say('stopped', summary(totals), totals);
}

/** Queries one shipment now, whatever the settings of polling are. */
async function syncOne({ deps, json, abort }: Run, id: number): Promise<void> {
  const refusal = deps.router.refusal();
  if (refusal) throw refusal;
  const { sql } = deps.runtime;
  const [result] = await syncShipments(deps, [id], ownTransaction(sql), { byHand: true, signal: abort });
  if (!result)
    throw new Error(`there is no shipment ${id} with a tracking number, or another process queries it at this moment`);
  const last = result.logs.at(-1);
  if (result.kind !== 'found') process.exitCode = exitCodes.failed;
  if (json) return printJson({ shipment_id: id, result: result.kind, queries: result.logs });
  const { company, tracking_no } = result.shipment;
  if (result.kind === 'found')
    print(
      `${green('synced')}  ${company} ${tracking_no}: ${result.status}, ${result.nodes.length} events of ${result.provider}`,
    );
  else
    print(`${red('failed')}  ${company} ${tracking_no}: ${last ? `${last.provider}: ${last.error}` : 'not queried'}`);
}

/** Ends the process in time after a stop signal, also when a service or the database hangs. */
function endInTime(stopping: AbortSignal, { config }: Pick<Runtime, 'config'>): AbortSignal {
  const abort = new AbortController();
  const ms = config.shutdownSeconds * 1000;
  const begin = () => {
    // Queries are aborted early enough to release their shipments.
    setTimeout(() => abort.abort(), ms - Math.min(1_000, ms / 2)).unref();
    setTimeout(() => process.exit(process.exitCode ?? exitCodes.failed), ms + 1_000).unref();
  };
  if (stopping.aborted) begin();
  else stopping.addEventListener('abort', begin, { once: true });
  return abort.signal;
}

const sync =
  (context: CommandContext) =>
  async ({ once, shipment, ...options }: SyncOptions): Promise<void> => {
    const stop = stopSignal(undefined, { isServer: !once });
    try {
      await context.withRuntime(
        options,
        async (runtime) => {
          const drivers = staticEntriesOf(context.modulesOf(runtime.config))(carriers);
          const deps = openSyncDeps(runtime, drivers);
          const abort = endInTime(stop.signal, runtime);
          const run: Run = { deps, json: options.json === true, stopping: stop.signal, abort };
          try {
            if (shipment !== undefined) await syncOne(run, shipment);
            else if (once) await drain(run);
            else await serve(run, runtime, context.version);
          } finally {
            await deps.client.close();
          }
        },
        { isBackground: true },
      );
    } finally {
      stop.release();
    }
  };

export function addSync(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('sync')
      .description(
        'query the carriers of shipments that are due, until stopped or once; with or without a running server',
      )
      .option('--admin-port <port>', 'port of the admin listener (default 8082, or a free one), or off')
      .option('--once', 'query the shipments that are due, then end')
      .option('--shipment <id>', 'query this shipment now, due or not', wholeNumber(1, Number.MAX_SAFE_INTEGER))
      .option('--json', 'print the result as JSON; without --once as JSON lines')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost shipments sync --once\n  $ tradepost shipments sync --shipment 17\n\n' +
          'Several processes may sync at the same time: each shipment is queried by one of them. While polling is off\n' +
          '(logistics_router.polling_enabled), the command waits for it, and --once ends. A signal lets running queries finish\n' +
          'within SHUTDOWN_SECONDS. `npx node daemons/carrier-sync.ts` does the same.\n\n' +
          'Exit codes: 0 done, also when queries have failed: they are repeated; 1 the shipment of --shipment was not found\n' +
          'at its carrier, or the run itself has failed; 2 wrong configuration.',
      ),
  ).action(sync(context));
}
