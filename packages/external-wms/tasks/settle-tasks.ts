import {
  endRemoteReservations,
  type OrderStatusRow,
  type WriteOrderStatus,
  writeRemoteStates,
} from '@tradepost/inventory';
import type { Transaction } from '@tradepost/postgres';
import { orderStatuses } from './task-order-store.ts';
import { type LockedTask, moveTasks, type TaskMove } from './task-store.ts';
import { wakeWorker } from './wake-worker.ts';

export const isOpen = (task: Pick<LockedTask, 'status'>) => task.status === 'pending' || task.status === 'processing';
const isEnd = (move: TaskMove) => move.to === 'success' || move.to === 'failed';

/**
 * Changes the state of locked tasks. In the same transaction it writes the inventory state of their orders and
 * `orders.inventory_status`. `wake`: enqueue a delivery when a move has made another task due. Locks: tasks in id
 * order, then orders in id order, then other rows of the orders. A payment or a cancellation locks orders first and
 * locks no tasks.
 */
export async function settleTasks(
  tx: Transaction,
  { writeOrderStatus, wake }: { writeOrderStatus: WriteOrderStatus; wake: boolean },
  tasks: readonly LockedTask[],
  moves: readonly TaskMove[],
  now: Date,
): Promise<void> {
  if (moves.length === 0) return;
  const taskOf = new Map(tasks.map((task) => [task.id, task]));
  const ofOrders = moves.flatMap((move) => {
    const task = taskOf.get(move.id)!;
    return task.has_order && (isEnd(move) || move.writesOrder) ? [{ move, task }] : [];
  });
  const numbersOf = (rows: typeof ofOrders) => [...new Set(rows.map(({ task }) => task.biz_no))];
  const orderNos = numbersOf(ofOrders);
  const failed = ofOrders.filter(({ move }) => move.to === 'failed');
  const failedNow = numbersOf(failed);
  const moved = moveTasks(tx, moves, now).execute();
  if (orderNos.length > 0) {
    const expected = tx<OrderStatusRow[]>`${orderStatuses(tx, orderNos, failedNow)}`.execute();
    const [, rows] = await Promise.all([moved, expected]);
    // This write locks the orders. When a payment or cancellation has added a task meanwhile, only the next statement reads it.
    const written = writeOrderStatus(tx, rows).execute();
    const shipped = numbersOf(ofOrders.filter(({ move, task }) => move.to === 'success' && task.action === 'confirm'));
    const states = writeRemoteStates(tx, orderStatuses(tx, orderNos, failedNow), { shipped, now }).execute();
    const unreserved = numbersOf(failed.filter(({ task }) => task.action === 'reserve'));
    const ended = unreserved.length > 0 ? endRemoteReservations(tx, unreserved, now).execute() : null;
    const [, after] = await Promise.all([written, states, ended]);
    const expectedOf = new Map(rows.map((row) => [row.order_no, row.status]));
    const changed = after.filter((row) => expectedOf.get(row.order_no) !== row.status);
    if (changed.length > 0) await writeOrderStatus(tx, changed);
  }
  const [row] = await moved;
  if (wake && row!.woken > 0) await wakeWorker(tx);
}
