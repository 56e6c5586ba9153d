import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Route } from '@tradepost/http';
import {
  type InventoryProvider,
  inventoryProvider,
  type ReserveAhead,
  type TellNow,
  type WriteOrderStatus,
} from '@tradepost/inventory';
import {
  ConfigError,
  type Cron,
  enqueueJobs,
  forgetFailedJobs,
  type Log,
  type Runtime,
  type Tasks,
} from '@tradepost/runtime';
import { callbackRoutes } from './callbacks/callback-routes.ts';
import { forgetNonces } from './callbacks/callback-store.ts';
import { externalProvider, type Intents, openIntents, openReserveAhead } from './external-provider.ts';
import { openExternalClient } from './protocol/client.ts';
import { openSellable } from './sellable.ts';
import {
  externalMode,
  externalTimeoutMs,
  missingSettings,
  providerName,
  settingCommand,
  signatureTtl,
  workerInterval,
} from './settings.ts';
import { type Delivered, deliverTasks, type TaskDeps } from './tasks/deliver-tasks.ts';
import { taskRoutes } from './tasks/task-routes.ts';
import { deliverTask, wakeWorker } from './tasks/wake-worker.ts';

/** Throws ConfigError with everything that is missing to speak to an external warehouse. */
export function checkExternal({ settings }: Pick<Runtime, 'settings'>): void {
  const missing = missingSettings(settings);
  if (missing.length === 0) return;
  throw new ConfigError(missing.map((key) => `${key}: ${providerName} needs it (${settingCommand(key)})`));
}

export type External = {
  provider: InventoryProvider;
  intents: Intents;
  /** In sync mode only. */
  reserveAhead: ReserveAhead | null;
  /** In sync mode only. */
  tellNow: TellNow | null;
  sellable: (skuIds: readonly number[]) => Promise<ReadonlyMap<number, number> | null>;
  routes: Route[];
  tasks: Tasks;
  crons: readonly Cron[];
  /** Delivers what is due until nothing is, without a job. */
  deliverDue(signal: AbortSignal): Promise<Delivered>;
  close(): Promise<void>;
};

const forgetTask = 'inventory.forget_nonces';
/** How long a job delivers before others get its place. */
const turnMs = 10_000;

/**
 * Everything that speaks with an external warehouse; opens no connection before it is needed. `onDelivered` is told of what
 * jobs have delivered.
 */
export function openExternal(
  runtime: Runtime,
  writeOrderStatus: WriteOrderStatus,
  onDelivered: (delivered: Delivered) => void = () => {},
): External {
  const { settings, sql } = runtime;
  const mode = settings.get(externalMode);
  const owner = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  const client = openExternalClient(runtime);
  const sellable = openSellable({ client, log: runtime.log });
  const intents = openIntents({ runtime, mode });
  const deps = { runtime, client, owner, mode };
  const taskDeps = { runtime, client, owner, mode: () => mode, writeOrderStatus } satisfies TaskDeps;

  /** Jobs that ask for a delivery while one runs here: it looks once more. */
  let asked = false;
  let running = false;
  let tidiedAt = Number.NEGATIVE_INFINITY;
  /** A delivery that failed while another was asked for is left behind as a failed job: nothing depends on it. */
  const tidyJobs = async () => {
    if (performance.now() - tidiedAt < 60_000) return;
    tidiedAt = performance.now();
    await forgetFailedJobs(sql, deliverTask);
  };
  const deliver = async (log: Log, signal: AbortSignal) => {
    // Tasks of a partner that is not set any more wait for it, instead of using up their attempts.
    if (missingSettings(settings).length > 0) return;
    asked = true;
    // One at a time: a partner that hangs must not take the places of all other jobs.
    if (running) return;
    running = true;
    let nextDue: Date | null = null;
    try {
      await tidyJobs();
      const turn = AbortSignal.any([signal, AbortSignal.timeout(turnMs)]);
      while (asked && !turn.aborted) {
        asked = false;
        const delivered = await deliverTasks(taskDeps, { log, signal: turn });
        onDelivered(delivered);
        nextDue = delivered.nextDue;
      }
      // The next turn is a job of its own, behind whatever else has become due.
      if (turn.aborted) nextDue ??= runtime.now();
    } finally {
      running = false;
    }
    // Also when this process is stopping: another worker goes on.
    if (!nextDue) return;
    // One look ahead for all workers, at the next task's time and at the latest after the interval.
    const latest = runtime.now().getTime() + settings.get(workerInterval) * 1000;
    const runAt = new Date(Math.min(Math.max(nextDue.getTime(), runtime.now().getTime() + 50), latest));
    await sql.begin((tx) => enqueueJobs(tx, [{ task: deliverTask, payload: {}, key: `${deliverTask}:next`, runAt }]));
  };

  const tellNow = async (bizNos: readonly string[]) => {
    // Who waits for the answer waits no longer than for one call; what is not done by then is a worker's.
    if (missingSettings(settings).length > 0) return;
    const signal = AbortSignal.timeout(settings.get(externalTimeoutMs) + 500);
    await deliverTasks(taskDeps, { log: runtime.log, signal, bizNos }).catch((error: unknown) => {
      runtime.log.warn({ err: error }, 'the external warehouse could not be told at once');
    });
  };

  return {
    provider: externalProvider(deps, intents),
    intents,
    reserveAhead: mode === 'sync' ? openReserveAhead(deps, intents) : null,
    tellNow: mode === 'sync' ? tellNow : null,
    sellable: (skuIds) => sellable.sellable(skuIds),
    routes: [...taskRoutes(taskDeps), ...callbackRoutes(taskDeps)],
    tasks: {
      [deliverTask]: (_payload, { log, signal, stopping = signal }) =>
        deliver(log, AbortSignal.any([signal, stopping])),
      [forgetTask]: async () => {
        await forgetNonces(sql, new Date(runtime.now().getTime() - 2_000 * settings.get(signatureTtl)));
      },
    },
    // The net under the wake-ups that come with tasks.
    crons: [
      { task: deliverTask, match: '* * * * *' },
      { task: forgetTask, match: '23 * * * *' },
    ],
    deliverDue: (signal) => deliverTasks(taskDeps, { log: runtime.log, signal }),
    close: () => client.close(),
  };
}

export type Delivery = Pick<External, 'tasks' | 'crons' | 'deliverDue' | 'close'> & {
  /** Whether new orders come here: inventory.provider. */
  isCurrent: boolean;
  /** Throws ConfigError with what is missing to deliver. */
  check(): void;
  /** Has a worker look for due tasks at once. */
  lookNow(): Promise<void>;
};

/** For a process that only delivers tasks. Unlike the start of the shop it migrates no stock. */
export function openDelivery(
  runtime: Runtime,
  options: { writeOrderStatus: WriteOrderStatus; onDelivered?: (delivered: Delivered) => void },
): Delivery {
  const { tasks, crons, deliverDue, close } = openExternal(runtime, options.writeOrderStatus, options.onDelivered);
  return {
    ...{ tasks, crons, deliverDue, close },
    isCurrent: runtime.settings.get(inventoryProvider) === providerName,
    check: () => checkExternal(runtime),
    lookNow: () =>
      runtime.sql.begin(async (tx) => {
        await wakeWorker(tx);
      }),
  };
}
