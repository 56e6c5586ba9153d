import {
  type InventoryProvider,
  insertRemoteReservations,
  type ReservationRow,
  type Reserved,
  type StockHold,
  type StockLine,
  settleRemoteReservations,
  summedItems,
} from '@tradepost/inventory';
import type { Statement, Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { externalWmsErrors } from './errors.ts';
import type { TaskAction } from './protocol/actions.ts';
import type { ExternalClient } from './protocol/client.ts';
import { backoffSeconds, externalTimeoutMs, maxAttempts, providerName } from './settings.ts';
import { failAheadReservations, finishAheadReservations } from './tasks/pre-reservation-store.ts';
import { type NewTask, requestIdOf } from './tasks/task.ts';
import { insertTasks } from './tasks/task-store.ts';
import { wakeWorker } from './tasks/wake-worker.ts';

const bizType = 'order';
/** What our own write may take after the partner's answer before the reservation is given up. */
const writeMs = 60_000;

function orderTask(action: TaskAction, biz_no: string, more: Readonly<Record<string, unknown>> = {}): NewTask {
  return { biz_type: bizType, biz_no, action, payload: { biz_type: bizType, biz_no, ...more } };
}

type Deps = {
  runtime: Pick<Runtime, 'sql' | 'now' | 'settings' | 'groupCommit'>;
  mode: 'sync' | 'async';
  owner: string;
};

/** What a caller who waits for the answer gets to tell the partner itself, before a worker does. */
const ownTurnMs = 2_000;

/**
 * Writes intents for the partner on the caller's transaction, and has a worker told of them. In sync mode who waits for the
 * outcome tells the partner right after the commit, so the worker comes later. `restMs`: not before that. `unlessThere`:
 * another may have written them first.
 */
export function openIntents({ runtime, mode }: { runtime: Pick<Runtime, 'now' | 'settings'>; mode: 'sync' | 'async' }) {
  return (
    tx: Transaction,
    tasks: readonly NewTask[],
    { restMs = mode === 'sync' ? ownTurnMs : 0, unlessThere = false } = {},
  ): Statement[] => {
    if (tasks.length === 0) return [];
    const now = runtime.now();
    const due = new Date(now.getTime() + restMs);
    const values = {
      mode,
      maxAttempts: runtime.settings.get(maxAttempts),
      backoffSeconds: runtime.settings.get(backoffSeconds),
      now,
      due,
      unlessThere,
    };
    return [insertTasks(tx, tasks, values), wakeWorker(tx, restMs > 0 ? due : null)];
  };
}
export type Intents = ReturnType<typeof openIntents>;

/**
 * Stock kept by a partner. async: an order writes its intent beside it, a worker delivers it. sync: `reserveAhead` has
 * asked before; the order's transaction then ends that task.
 */
export function externalProvider({ runtime, mode }: Deps, intents: Intents): InventoryProvider {
  const sync = mode === 'sync';

  async function hold(tx: Transaction): Promise<StockHold> {
    const rows: ReservationRow[] = [];
    const tasks: NewTask[] = [];
    const releases: NewTask[] = [];
    const taken = new Set<string>();
    const returned: { biz_no: string; code: null; error: string }[] = [];
    return {
      reserve({ biz_no, lines, expires_at }): Reserved {
        const items = summedItems(lines);
        for (const item of items) rows.push({ biz_no, ...item, expires_at });
        if (!sync) tasks.push(orderTask('reserve', biz_no, { items }));
        taken.add(biz_no);
        return { ok: true, warehouse_ids: lines.map(() => 0) };
      },
      giveBack(biz_no, reason) {
        returned.push({ biz_no, code: null, error: reason });
        releases.push(orderTask('release', biz_no, { reason: 'order_refused' }));
      },
      statements: () => [
        ...(sync && taken.size > 0 ? [finishAheadReservations(tx, [...taken], runtime.now())] : []),
        ...(returned.length > 0 ? [failAheadReservations(tx, returned, runtime.now())] : []),
        ...(rows.length > 0
          ? [insertRemoteReservations(tx, rows, { provider: providerName, status: sync ? 'reserved' : 'pending' })]
          : []),
        ...intents(tx, tasks),
        // A worker may have given it up and released it before us.
        ...intents(tx, releases, { restMs: 0, unlessThere: true }),
      ],
    };
  }

  return {
    name: providerName,
    statusAfter: { reserve: sync ? 'reserved' : 'pending', confirm: 'pending', release: 'pending' },
    hold,
    confirm: (tx, bizNos) => [
      settleRemoteReservations(tx, bizNos, 'confirmed'),
      ...intents(
        tx,
        bizNos.map((biz_no) => orderTask('confirm', biz_no)),
      ),
    ],
    release: (tx, bizNos, reason) => [
      settleRemoteReservations(tx, bizNos, 'released'),
      ...intents(
        tx,
        bizNos.map((biz_no) => orderTask('release', biz_no, { reason })),
      ),
    ],
  };
}

/** The refusals of a reservation before the order is written. */
export const aheadRefusals = [externalWmsErrors.external_refused, externalWmsErrors.external_unavailable];

type AheadDemand = { biz_no: string; lines: readonly StockLine[] };
type AheadFailure = { biz_no: string; code: number | null; error: string; release: boolean };

/**
 * Reserves at the partner before an order is written. The intent is committed first, locked for as long as the call and
 * our own write may take: whoever dies in between leaves a task that a worker finds, ends and has released.
 */
export function openReserveAhead(deps: Deps & { client: ExternalClient }, intents: Intents) {
  const { runtime, client, owner } = deps;
  const announce = runtime.groupCommit<AheadDemand, true>('reserve_ahead', async (demands) => {
    const now = runtime.now();
    const lock = { owner, expiresAt: new Date(now.getTime() + runtime.settings.get(externalTimeoutMs) + writeMs) };
    const tasks = demands.map(({ biz_no, lines }) => orderTask('reserve', biz_no, { items: summedItems(lines) }));
    await runtime.sql.begin(async (tx) => {
      await insertTasks(tx, tasks, { mode: 'sync', maxAttempts: 1, backoffSeconds: 0, lock, now });
    });
    return demands.map(() => true);
  });
  const giveUp = runtime.groupCommit<AheadFailure, true>('reserve_ahead_refused', async (failures) => {
    await runtime.sql.begin(async (tx) => {
      await failAheadReservations(tx, failures, runtime.now());
      const unsure = failures.filter((failure) => failure.release);
      const tasks = unsure.map(({ biz_no }) => orderTask('release', biz_no, { reason: 'reserve_failed' }));
      // The call may still be on its way: a release that came before it would find nothing and leave it standing.
      const restMs = Math.max(2 * runtime.settings.get(externalTimeoutMs), 10_000);
      for (const statement of intents(tx, tasks, { restMs, unlessThere: true })) await statement;
    });
    return failures.map(() => true);
  });
  return async ({ biz_no, lines }: AheadDemand): Promise<void> => {
    await announce({ biz_no, lines });
    const task = orderTask('reserve', biz_no, { items: summedItems(lines) });
    const outcome = await client.call('reserve', task.payload, { requestId: requestIdOf(task) });
    if (outcome.kind === 'success') return;
    const { code, message } = outcome;
    // After a definite no, and when it was not even asked, there is nothing to give back; else nobody knows, and a release of
    // nothing does no harm.
    await giveUp({ biz_no, code, error: message, release: outcome.kind === 'retry' && !outcome.unsent });
    throw outcome.kind === 'refused'
      ? externalWmsErrors.external_refused({ reason: message || `code ${code}` })
      : externalWmsErrors.external_unavailable();
  };
}
