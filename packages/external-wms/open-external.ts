import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Route } from '@tradepost/http';
import {
  type InventoryProvider,
  inventoryProvider,
  type NotifyNow,
  type PreReserve,
  type WriteOrderStatus,
} from '@tradepost/inventory';
import { ConfigError, type Cron, type Runtime, type Tasks } from '@tradepost/runtime';
import { callbackRoutes } from './callbacks/callback-routes.ts';
import { forgetNonces } from './callbacks/callback-store.ts';
import { externalProvider, openPreReserve, openTaskWriter, type WriteTasks } from './external-provider.ts';
import { openExternalClient } from './protocol/client.ts';
import { openSellable } from './sellable.ts';
import {
  externalMode,
  externalTimeoutMs,
  missingSettings,
  providerName,
  settingCommand,
  signatureTtl,
} from './settings.ts';
import { type Delivered, deliverTasks, type TaskDeps } from './tasks/deliver-tasks.ts';
import { openDeliveryJob } from './tasks/delivery-job.ts';
import { taskRoutes } from './tasks/task-routes.ts';
import { deliverTask, wakeWorker } from './tasks/wake-worker.ts';

/** Throws ConfigError with every setting that a call of the external warehouse needs and that is not set. */
export function checkExternal({ settings }: Pick<Runtime, 'settings'>): void {
  const missing = missingSettings(settings);
  if (missing.length === 0) return;
  throw new ConfigError(missing.map((key) => `${key}: ${providerName} needs it (${settingCommand(key)})`));
}

export type External = {
  provider: InventoryProvider;
  writeTasks: WriteTasks;
  /** In sync mode only. */
  preReserve: PreReserve | null;
  /** In sync mode only. */
  notifyNow: NotifyNow | null;
  sellable: (skuIds: readonly number[]) => Promise<ReadonlyMap<number, number> | null>;
  routes: Route[];
  tasks: Tasks;
  crons: readonly Cron[];
  /** Delivers due tasks until no task is due. It uses no job. */
  deliverDue(signal: AbortSignal): Promise<Delivered>;
  close(): Promise<void>;
};

const forgetTask = 'inventory.forget_nonces';

/**
 * Opens the provider, its client, routes and jobs. Connections are opened when they are first needed. `onDelivered` is called
 * with the counts of each delivery job.
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
  const writeTasks = openTaskWriter({ runtime, mode });
  const deps = { runtime, client, owner, mode };
  const taskDeps = { runtime, client, owner, mode: () => mode, writeOrderStatus } satisfies TaskDeps;

  const deliver = openDeliveryJob(runtime, taskDeps, onDelivered);

  const notifyNow = async (bizNos: readonly string[]) => {
    // The caller waits at most for the time of one call. A worker delivers the remaining tasks.
    if (missingSettings(settings).length > 0) return;
    const signal = AbortSignal.timeout(settings.get(externalTimeoutMs) + 500);
    await deliverTasks(taskDeps, { log: runtime.log, signal, bizNos }).catch((error: unknown) => {
      runtime.log.warn({ err: error }, 'tasks for the external warehouse could not be delivered at once');
    });
  };

  return {
    provider: externalProvider(deps, writeTasks),
    writeTasks,
    preReserve: mode === 'sync' ? openPreReserve(deps, writeTasks) : null,
    notifyNow: mode === 'sync' ? notifyNow : null,
    sellable: (skuIds) => sellable.sellable(skuIds),
    routes: [...taskRoutes(taskDeps), ...callbackRoutes(taskDeps)],
    tasks: {
      [deliverTask]: (_payload, { log, signal, stopping = signal }) =>
        deliver(log, AbortSignal.any([signal, stopping])),
      [forgetTask]: async () => {
        await forgetNonces(sql, new Date(runtime.now().getTime() - 2_000 * settings.get(signatureTtl)));
      },
    },
    // The crons cover a lost job.
    crons: [
      { task: deliverTask, match: '* * * * *' },
      { task: forgetTask, match: '23 * * * *' },
    ],
    deliverDue: (signal) => deliverTasks(taskDeps, { log: runtime.log, signal }),
    close: () => client.close(),
  };
}

export type Delivery = Pick<External, 'tasks' | 'crons' | 'deliverDue' | 'close'> & {
  /** Whether inventory.provider is this provider. */
  isCurrent: boolean;
  /** Throws ConfigError with every setting that a delivery needs and that is not set. */
  check(): void;
  /** Enqueues a job that polls for due tasks at once. */
  pollNow(): Promise<void>;
};

/** Opens the provider for a process that only delivers tasks. It does not migrate stock, which the start of the shop does. */
export function openDelivery(
  runtime: Runtime,
  options: { writeOrderStatus: WriteOrderStatus; onDelivered?: (delivered: Delivered) => void },
): Delivery {
  const { tasks, crons, deliverDue, close } = openExternal(runtime, options.writeOrderStatus, options.onDelivered);
  return {
    ...{ tasks, crons, deliverDue, close },
    isCurrent: runtime.settings.get(inventoryProvider) === providerName,
    check: () => checkExternal(runtime),
    pollNow: () =>
      runtime.sql.begin(async (tx) => {
        await wakeWorker(tx);
      }),
  };
}
