import {
  type CaseStock,
  type InventoryProvider,
  insertRemoteReservations,
  type ReservationRow,
  type Reserved,
  type StockLine,
  type StockSession,
  settleRemoteReservations,
  summedItems,
} from '@tradepost/inventory';
import type { Statement, Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { externalWmsErrors } from './errors.ts';
import type { TaskAction } from './protocol/actions.ts';
import type { ExternalClient } from './protocol/client.ts';
import { backoffSeconds, externalTimeoutMs, maxAttempts, providerName } from './settings.ts';
import { failPreReservations, finishPreReservations } from './tasks/pre-reservation-store.ts';
import { type NewTask, requestIdOf } from './tasks/task.ts';
import { insertTasks } from './tasks/task-store.ts';
import { wakeWorker } from './tasks/wake-worker.ts';

const bizType = 'order';
/**
 * The time in which the order must be written after the answer of the partner. After this time a worker releases the
 * reservation.
 */
const writeMs = 60_000;

function orderTask(action: TaskAction, biz_no: string, more: Readonly<Record<string, unknown>> = {}): NewTask {
  return { biz_type: bizType, biz_no, action, payload: { biz_type: bizType, biz_no, ...more } };
}

/** The tasks of after-sale cases. A deduct and a restore of one case are delivered one after the other. */
function caseTasks(action: 'restore' | 'deduct', cases: readonly CaseStock[]): NewTask[] {
  return cases.map(({ biz_no, lines }) => {
    const of = { biz_type: 'after_sale', biz_no };
    const reason = action === 'restore' ? { reason: 'after_sale' } : {};
    return { ...of, action, payload: { ...of, ...reason, items: summedItems(lines) } };
  });
}

type Deps = {
  runtime: Pick<Runtime, 'sql' | 'now' | 'settings' | 'groupCommit'>;
  mode: 'sync' | 'async';
  owner: string;
};

/** In sync mode the caller that wrote a task delivers it. A worker delivers it only after this time. */
const workerDelayMs = 2_000;

/**
 * Makes a function that writes tasks on the caller's transaction and enqueues a job that delivers them. In sync mode the caller
 * delivers the tasks right after the commit, so the job runs later. `delayMs`: the delay of the job. `skipExisting`: tasks that
 * another transaction has already written are left out.
 */
export function openTaskWriter({
  runtime,
  mode,
}: {
  runtime: Pick<Runtime, 'now' | 'settings'>;
  mode: 'sync' | 'async';
}) {
  return (
    tx: Transaction,
    tasks: readonly NewTask[],
    { delayMs = mode === 'sync' ? workerDelayMs : 0, skipExisting = false } = {},
  ): Statement[] => {
    if (tasks.length === 0) return [];
    const now = runtime.now();
    const due = new Date(now.getTime() + delayMs);
    const values = {
      mode,
      maxAttempts: runtime.settings.get(maxAttempts),
      backoffSeconds: runtime.settings.get(backoffSeconds),
      now,
      due,
      skipExisting,
    };
    return [insertTasks(tx, tasks, values), wakeWorker(tx, delayMs > 0 ? due : null)];
  };
}
export type WriteTasks = ReturnType<typeof openTaskWriter>;

/**
 * The stock operations when a partner holds the stock. In async mode the transaction of the order writes the reserve
 * task, and a worker delivers it. In sync mode `preReserve` has already called the partner, and the transaction of the
 * order ends the task of that call.
 */
export function externalProvider({ runtime, mode }: Deps, writeTasks: WriteTasks): InventoryProvider {
  const sync = mode === 'sync';

  async function openStockSession(tx: Transaction): Promise<StockSession> {
    const rows: ReservationRow[] = [];
    const tasks: NewTask[] = [];
    const releases: NewTask[] = [];
    const reserved = new Set<string>();
    const refused: { biz_no: string; code: null; error: string }[] = [];
    return {
      reserve({ biz_no, lines, expires_at }): Reserved {
        const items = summedItems(lines);
        for (const item of items) rows.push({ biz_no, ...item, expires_at });
        if (!sync) tasks.push(orderTask('reserve', biz_no, { items }));
        reserved.add(biz_no);
        return { ok: true, warehouse_ids: lines.map(() => 0) };
      },
      releaseDemand(biz_no, reason) {
        refused.push({ biz_no, code: null, error: reason });
        releases.push(orderTask('release', biz_no, { reason: 'order_refused' }));
      },
      statements: () => [
        ...(sync && reserved.size > 0 ? [finishPreReservations(tx, [...reserved], runtime.now())] : []),
        ...(refused.length > 0 ? [failPreReservations(tx, refused, runtime.now())] : []),
        ...(rows.length > 0
          ? [insertRemoteReservations(tx, rows, { provider: providerName, status: sync ? 'reserved' : 'pending' })]
          : []),
        ...writeTasks(tx, tasks),
        // A worker may already have dead-lettered the pre-reservation and written its release.
        ...writeTasks(tx, releases, { delayMs: 0, skipExisting: true }),
      ],
    };
  }

  return {
    name: providerName,
    statusAfter: { reserve: sync ? 'reserved' : 'pending', confirm: 'pending', release: 'pending' },
    openStockSession,
    confirm: (tx, bizNos) => [
      settleRemoteReservations(tx, bizNos, 'confirmed'),
      ...writeTasks(
        tx,
        bizNos.map((biz_no) => orderTask('confirm', biz_no)),
      ),
    ],
    release: (tx, bizNos, reason) => [
      settleRemoteReservations(tx, bizNos, 'released'),
      ...writeTasks(
        tx,
        bizNos.map((biz_no) => orderTask('release', biz_no, { reason })),
      ),
    ],
    // Staff do not wait for the partner, so these tasks are due at once in both modes.
    restore: async (tx, cases) => writeTasks(tx, caseTasks('restore', cases), { delayMs: 0 }),
    // A transaction makes no call, so the partner is not asked for its stock first. It may refuse the task: the task fails, and an
    // operator retries it when the stock is there, or closes the case.
    async deduct(tx, cases) {
      for (const statement of writeTasks(tx, caseTasks('deduct', cases), { delayMs: 0 })) await statement;
      return cases.map(() => true as const);
    },
  };
}

/** The refusals of a pre-reservation. */
export const preReserveRefusals = [externalWmsErrors.external_refused, externalWmsErrors.external_unavailable];

type PreReserveDemand = { biz_no: string; lines: readonly StockLine[] };
type FailedPreReservation = { biz_no: string; code: number | null; error: string; release: boolean };

/**
 * Reserves stock at the partner before an order is written. The task is committed first. Its lock lasts for the time of the call
 * and of the write of the order. If this process dies meanwhile, a worker ends the task and writes the release.
 */
export function openPreReserve(deps: Deps & { client: ExternalClient }, writeTasks: WriteTasks) {
  const { runtime, client, owner } = deps;
  const insertReserve = runtime.groupCommit<PreReserveDemand, true>('reserve_ahead', async (demands) => {
    const now = runtime.now();
    const lock = { owner, expiresAt: new Date(now.getTime() + runtime.settings.get(externalTimeoutMs) + writeMs) };
    const tasks = demands.map(({ biz_no, lines }) => orderTask('reserve', biz_no, { items: summedItems(lines) }));
    await runtime.sql.begin(async (tx) => {
      await insertTasks(tx, tasks, { mode: 'sync', maxAttempts: 1, backoffSeconds: 0, lock, now });
    });
    return demands.map(() => true);
  });
  const endFailed = runtime.groupCommit<FailedPreReservation, true>('reserve_ahead_refused', async (failures) => {
    await runtime.sql.begin(async (tx) => {
      await failPreReservations(tx, failures, runtime.now());
      const uncertain = failures.filter((failure) => failure.release);
      const tasks = uncertain.map(({ biz_no }) => orderTask('release', biz_no, { reason: 'reserve_failed' }));
      // The partner may receive the reserve later than we expect. The release waits, because a release before the reserve would
      // do nothing and the reservation would stay.
      const delayMs = Math.max(2 * runtime.settings.get(externalTimeoutMs), 10_000);
      for (const statement of writeTasks(tx, tasks, { delayMs, skipExisting: true })) await statement;
    });
    return failures.map(() => true);
  });
  return async ({ biz_no, lines }: PreReserveDemand): Promise<void> => {
    await insertReserve({ biz_no, lines });
    const task = orderTask('reserve', biz_no, { items: summedItems(lines) });
    const outcome = await client.call('reserve', task.payload, { requestId: requestIdOf(task) });
    if (outcome.kind === 'success') return;
    const { code, message } = outcome;
    // After a refusal, and when the call was not sent, there is no reservation. Otherwise the outcome is unknown and a release is
    // written. A release without a reservation does no harm.
    await endFailed({ biz_no, code, error: message, release: outcome.kind === 'retry' && !outcome.unsent });
    throw outcome.kind === 'refused'
      ? externalWmsErrors.external_refused({ reason: message || `code ${code}` })
      : externalWmsErrors.external_unavailable();
  };
}
