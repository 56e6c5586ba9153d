import { setTimeout as sleep } from 'node:timers/promises';
import { openAdmin } from '@tradepost/http';
import { orderStatusWriter } from '@tradepost/inventory';
import type { CommandContext } from '@tradepost/module';
import { exposeJobs, type Runtime, startWorker } from '@tradepost/runtime';
import {
  asCalled,
  exitCodes,
  type GlobalOptions,
  green,
  print,
  printJson,
  progress,
  red,
  stopSignal,
  withDatabaseOptions,
  withProgress,
} from '@tradepost/terminal';
import type { Command } from 'commander';
import { type Delivery, openDelivery } from '../open-external.ts';
import { externalMetrics } from '../protocol/external-metrics.ts';
import type { Delivered } from '../tasks/deliver-tasks.ts';
import { selectTaskCounts, type TaskCounts } from '../tasks/task-report-store.ts';

type DeliverOptions = GlobalOptions & { once?: boolean; adminPort?: string };
type Totals = Omit<Delivered, 'nextDue'>;

const noTotals = { delivered: 0, succeeded: 0, accepted: 0, retried: 0, failed: 0, abandoned: 0 } satisfies Totals;

function add(totals: Totals, more: Totals): void {
  for (const key of Object.keys(noTotals) as (keyof Totals)[]) totals[key] += more[key];
}

function openLine({ open, next_due, failed }: TaskCounts): string {
  const failures = failed > 0 ? `; ${failed} failed` : '';
  if (open === 0 || next_due === null) return `no task is open${failures}`;
  const seconds = Math.ceil((next_due.getTime() - Date.now()) / 1000);
  const next = seconds > 0 ? `the next is due in ${seconds} s` : 'the next is due now';
  return `${open} ${open === 1 ? 'task is' : 'tasks are'} open, ${next}${failures}`;
}

function summaryLines(totals: Totals, counts: TaskCounts): string[] {
  const { delivered, succeeded, accepted, retried, failed, abandoned } = totals;
  const parts = [
    `${succeeded} succeeded`,
    `${accepted} accepted`,
    `${retried} to be retried`,
    `${failed} failed`,
    ...(abandoned > 0 ? [`${abandoned} abandoned: their orders were not written`] : []),
  ];
  return [
    `${failed > 0 ? red('failed') : green('delivered')}  ${delivered} ${delivered === 1 ? 'call' : 'calls'}: ${parts.join(', ')}`,
    openLine(counts),
    ...(failed > 0
      ? [asCalled('tradepost wms tasks list --failed shows the reasons; tradepost wms tasks retry delivers them again')]
      : []),
  ];
}

const countsForJson = ({ open, due, failed, next_due }: TaskCounts) => ({ open, due, failed_in_all: failed, next_due });

/** Delivers until no task is due, and prints the result. */
async function drain(
  runtime: Runtime,
  delivery: Delivery,
  { json, stopping }: { json: boolean; stopping: AbortSignal },
) {
  const { sql, metrics } = runtime;
  const made = externalMetrics(metrics).calls;
  const calls = async () => (await made.get()).values.reduce((sum, row) => sum + row.value, 0);
  const { nextDue: _, ...totals } = await withProgress(
    async () => `${await calls()} calls made; ${openLine(await selectTaskCounts(sql))}`,
    () => delivery.deliverDue(stopping),
  );
  const counts = await selectTaskCounts(sql);
  if (totals.failed > 0) process.exitCode = exitCodes.failed;
  if (json) return printJson({ ...totals, ...countsForJson(counts), stopped: stopping.aborted });
  for (const line of summaryLines(totals, counts)) print(line);
  if (stopping.aborted) print('stopped before all due tasks were delivered');
}

/** Delivers until the process is stopped. */
async function serve(
  runtime: Runtime,
  delivery: Delivery,
  { json, stopping, totals, version }: { json: boolean; stopping: AbortSignal; totals: Totals; version: string },
): Promise<void> {
  const { config, sql, log, metrics } = runtime;
  const shutdownMs = config.shutdownSeconds * 1000;
  const worker = await startWorker({
    ...{ url: runtime.databaseUrl, concurrency: config.workerConcurrency, log, metrics, shutdownMs },
    ...{ tasks: delivery.tasks, crons: delivery.crons },
  });
  runtime.parts.add('worker', () => {
    if (!worker.isRunning()) throw new Error('it has ended and is being started again');
  });
  exposeJobs(runtime);
  const admin = await openAdmin(runtime, version).catch(async (error: unknown) => {
    await worker.stop();
    throw error;
  });
  const finish = async () => {
    await admin?.close(500);
    const finished = worker.stop().catch((error: unknown) => log.warn({ err: error }, 'while stopping'));
    await Promise.race([finished, sleep(shutdownMs, undefined, { ref: false })]);
  };
  try {
    // Delivers tasks that became due while no process ran, without waiting for the cron of each minute.
    await delivery.pollNow();
    const counts = await selectTaskCounts(sql);
    if (json) print(JSON.stringify({ event: 'ready', pid: process.pid, admin: admin?.url, ...countsForJson(counts) }));
    else print(`Delivering to the external warehouse (pid ${process.pid}): ${openLine(counts)}`);
    if (admin && !json) print(`Admin ${admin.url}/ready`);
    const stopped = new Promise<void>((resolve) => {
      if (stopping.aborted) resolve();
      else stopping.addEventListener('abort', () => resolve(), { once: true });
    });
    await stopped;
    if (!json) progress('finishing the running calls, then stopping');
  } finally {
    await finish();
  }
  const left = await selectTaskCounts(sql);
  if (json) print(JSON.stringify({ event: 'stopped', ...totals, ...countsForJson(left) }));
  else for (const line of summaryLines(totals, left)) print(line);
}

/** Ends the process in time after a stop signal, also when the warehouse or the database hangs. */
function endInTime(delivery: Delivery, stopping: AbortSignal, shutdownMs: number): void {
  const begin = () => {
    // Calls are aborted early enough to store them as calls without an answer.
    setTimeout(() => void delivery.close(), shutdownMs - Math.min(1_000, shutdownMs / 2)).unref();
    setTimeout(() => process.exit(process.exitCode ?? exitCodes.failed), shutdownMs + 1_000).unref();
  };
  if (stopping.aborted) begin();
  else stopping.addEventListener('abort', begin, { once: true });
}

const deliver =
  (context: CommandContext) =>
  async ({ once, ...options }: DeliverOptions): Promise<void> => {
    const stop = stopSignal(undefined, { isServer: !once });
    const json = options.json === true;
    const totals: Totals = { ...noTotals };
    try {
      await context.withRuntime(
        options,
        async (runtime) => {
          const delivery = openDelivery(runtime, {
            writeOrderStatus: orderStatusWriter(context.modulesOf(runtime.config)),
            onDelivered: (delivered) => add(totals, delivered),
          });
          try {
            const counts = await selectTaskCounts(runtime.sql);
            if (!delivery.isCurrent && counts.open === 0) {
              if (json) return printJson({ ...noTotals, ...countsForJson(counts), stopped: false });
              return print('nothing to deliver: inventory.provider is not external_wms, and no task is open');
            }
            delivery.check();
            endInTime(delivery, stop.signal, runtime.config.shutdownSeconds * 1000);
            if (once) await drain(runtime, delivery, { json, stopping: stop.signal });
            else await serve(runtime, delivery, { json, stopping: stop.signal, totals, version: context.version });
          } finally {
            await delivery.close();
          }
        },
        { isBackground: true },
      );
    } finally {
      stop.release();
    }
  };

export function addDeliver(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('deliver')
      .description(
        'deliver due tasks to the external warehouse, until stopped or once; with or without a running server',
      )
      .option('--admin-port <port>', 'port of the admin listener (default 8082, or a free one), or off')
      .option('--once', 'deliver the tasks that are due, then end')
      .option('--json', 'print the result as JSON; without --once as JSON lines')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost wms deliver --once\n  $ tradepost wms deliver --database-url postgres://shop@db/shop\n\n' +
          'Several processes may deliver at the same time. A signal lets running calls finish within SHUTDOWN_SECONDS.\n' +
          'WORKER_CONCURRENCY is the number of jobs at once. `npx node daemons/wms-retry.ts` does the same.\n\n' +
          'Exit codes: 0 all due tasks were delivered, the others wait for their time or their callback; 1 a task has failed\n' +
          'in this run (--once), or the run itself has failed; 2 wrong configuration.',
      ),
  ).action(deliver(context));
}
