import type { Transaction } from '@tradepost/postgres';
import type { EventReader, OutboxEvent, Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { openLedger } from '../ledger/ledger.ts';
import { lockBalances, writeLedger } from '../ledger/ledger-store.ts';
import type { Commission } from './commission.ts';
import { type CommissionDesk, openCommissionDesk } from './commission-desk.ts';
import { insertRefunds, lockCommissionsOf, updateCommissions } from './commission-store.ts';

/** The status of an order that was refunded in full before it was shipped. */
const cancelledOrder = 6;

const order = { order_id: z.number() };
const change = z.discriminatedUnion('name', [
  z.object({ name: z.literal('order.paid'), ...order, total_amount: z.number() }),
  z.object({ name: z.literal('order.completed'), ...order, total_amount: z.number() }),
  z.object({ name: z.literal('order.cancelled'), ...order }),
  z.object({ name: z.literal('order.after_sale_ended'), ...order, status: z.number() }),
  z.object({ name: z.literal('after_sale.refunded'), ...order, case_id: z.number(), refund_amount: z.number() }),
]);
type Change = z.output<typeof change>;
const kinds = change.options.map((option) => option.shape.name.value);

const changeOf = ({ name, data }: OutboxEvent): Change => change.parse({ ...data, name });

/** `isNew`: the refund was not known. */
function apply(desk: CommissionDesk, commission: Commission, of: Change, isNew: boolean): void {
  if (of.name === 'order.paid') desk.pay(commission, of.total_amount);
  else if (of.name === 'order.completed') desk.settle(commission, of.total_amount);
  else if (of.name === 'order.cancelled') desk.cancel(commission);
  else if (of.name === 'order.after_sale_ended') {
    if (of.status === cancelledOrder) desk.cancel(commission);
  } else if (isNew) desk.refund(commission, { case_id: of.case_id, amount: of.refund_amount });
}

/** Applies changes of orders to their commissions, in order. A repeated change does nothing. */
async function applyChanges(tx: Transaction, changes: readonly Change[], now: Date): Promise<void> {
  const commissions = await lockCommissionsOf(
    tx,
    changes.map(({ order_id }) => order_id),
  );
  if (commissions.length === 0) return;
  const byOrder = Map.groupBy(commissions, ({ order_id }) => order_id);
  const refunds = changes.flatMap((of) =>
    of.name === 'after_sale.refunded' && byOrder.has(of.order_id)
      ? [{ case_id: of.case_id, order_id: of.order_id, amount: of.refund_amount }]
      : [],
  );
  const [balances, known] = await Promise.all([
    lockBalances(
      tx,
      commissions.map(({ distributor_id }) => distributor_id),
    ),
    insertRefunds(tx, refunds, now),
  ]);
  const fresh = new Set(known);
  const ledger = openLedger(balances);
  const desk = openCommissionDesk(ledger, now);
  for (const of of changes) {
    const isNew = of.name === 'after_sale.refunded' && fresh.delete(of.case_id);
    for (const commission of byOrder.get(of.order_id) ?? []) apply(desk, commission, of, isNew);
  }
  await Promise.all([updateCommissions(tx, desk.changed(), now), writeLedger(tx, ledger, now)]);
}

/** Commissions follow their orders. */
export const commissionReader = ({ now }: Pick<Runtime, 'now'>): EventReader => ({
  name: 'distribution.commissions',
  kinds,
  read: (tx, events) => applyChanges(tx, events.map(changeOf), now()),
});
