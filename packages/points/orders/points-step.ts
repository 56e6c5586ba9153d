import type { Queryable } from '@tradepost/postgres';
import type { PriceScope, PriceStep } from '@tradepost/pricing';
import type { Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { pointsErrors } from '../errors.ts';
import { insertEntries, lockAccounts, lockAccountsStatement, selectBalances } from '../ledger/ledger-store.ts';
import { pointsType } from '../ledger/points-log.ts';
import { maxPoints } from '../limits.ts';
import { pointsToYuan } from '../settings.ts';
import { discountFor } from './exchange-rate.ts';
import { insertUses, returnPoints } from './order-points-store.ts';

/** What the shoppers have left, by shopper. Null when no order of the batch uses points. */
type Facts = Map<number, number> | null;
type Use = { readonly user_id: number; readonly points: number };

const chosen = ({ choices }: PriceScope['requests'][number]): number => (choices.points_use as number | undefined) ?? 0;

async function balancesOf(sql: Queryable, { requests, lock }: PriceScope): Promise<Facts> {
  const userIds = requests.filter((request) => chosen(request) > 0).map(({ user_id }) => user_id);
  if (userIds.length === 0) return null;
  // A scope with locks is read in the transaction of its orders.
  return lock ? lockAccounts(sql as Parameters<typeof lockAccounts>[0], userIds) : selectBalances(sql, userIds);
}

/** Deducts points that the shopper chooses, after all other discounts: at most the balance and what is left to pay. */
export const pointsStep = ({ settings }: Pick<Runtime, 'settings'>): PriceStep<Facts, Use> => ({
  name: 'points',
  priority: 40,
  choices: {
    points_use: z
      .int()
      .min(0)
      .max(maxPoints)
      .optional()
      .describe('points to pay with; the order takes at most what is left to pay')
      .meta({ examples: [0] }),
  },
  refuses: [pointsErrors.points_use],
  statements: { load: 1, write: 2, release: 2 },
  load: balancesOf,
  apply(pricing, balances) {
    const { user_id } = pricing.request;
    const wanted = chosen(pricing.request);
    if (wanted === 0) return;
    const balance = balances?.get(user_id) ?? 0;
    if (wanted > balance) throw pointsErrors.points_use({ balance });
    const { points, amount } = discountFor(wanted, pricing.base(), settings.get(pointsToYuan));
    if (amount === 0) return;
    pricing.discount({ type: 'points', name: '' }, amount);
    return { user_id, points };
  },
  take({ user_id, points }, balances) {
    balances?.set(user_id, balances.get(user_id)! - points);
  },
  write(tx, uses, now) {
    const rows = uses.map(({ order, use }) => ({ order_id: order.id, ...use }));
    const entries = rows.map(({ order_id, user_id, points }) => ({
      ...{ user_id, points: -points, type: pointsType.orderUse, related_id: order_id, remark: '' },
      key: `order:${order_id}:used`,
    }));
    return [insertEntries(tx, entries, now), insertUses(tx, rows)];
  },
  release: (tx, orders, now) => [
    lockAccountsStatement(
      tx,
      orders.map(({ user_id }) => user_id),
    ),
    returnPoints(
      tx,
      orders.map(({ id }) => ({ order_id: id, total: null })),
      now,
    ),
  ],
});
