import type { RefusalFactory } from '@tradepost/core';
import { amount, id, timestamp } from '@tradepost/http';
import { defineRegistry } from '@tradepost/module';
import type { Queryable } from '@tradepost/postgres';
import { z } from 'zod';
import { orderErrors } from '../errors.ts';

/** The activity of a cart line, as it is now. Prices are in currency units. */
export const activitySnapshot = z
  .object({
    activity_product_id: id(),
    activity_id: id(),
    activity_type: z.string().meta({ examples: ['seckill'] }),
    activity_name: z.string().meta({ examples: ['Weekend flash sale'] }),
    price: amount().meta({
      description:
        'the price of the next order: of a bargain the price that the shopper bargained for, or else the start price',
    }),
    origin_price: amount().meta({ description: 'the price of the SKU' }),
    activity_start_at: timestamp(),
    activity_end_at: timestamp(),
  })
  .meta({ id: 'ActivitySnapshot' });
export type ActivitySnapshot = z.input<typeof activitySnapshot>;

/** A line of an activity: `activity_product_id` is above 0. */
export type ActivityLine = { readonly sku_id: number; readonly activity_product_id: number };

/** What a package that owns activities adds to carts. */
export type CartActivities = {
  /** The largest numbers of statements of `check` and `snapshots`, for any number of lines. */
  readonly statements: { readonly check: number; readonly snapshots: number };
  /** The refusals that `check` returns. */
  readonly refuses: readonly RefusalFactory[];
  /** For each line null, or why it cannot be added to a cart. */
  check(sql: Queryable, lines: readonly ActivityLine[]): Promise<readonly (Error | null)[]>;
  /** For each line of the cart of a shopper its activity, or null when it does not exist any more. */
  snapshots(
    sql: Queryable,
    userId: number,
    lines: readonly ActivityLine[],
  ): Promise<readonly (ActivitySnapshot | null)[]>;
};

export const cartActivities = defineRegistry<CartActivities>('orders.cart_activities');

/** Without a package of activities no activity exists. */
const noActivities: CartActivities = {
  statements: { check: 0, snapshots: 0 },
  refuses: [],
  check: async (_sql, lines) => lines.map(() => orderErrors.activity_not_found()),
  snapshots: async (_sql, _userId, lines) => lines.map(() => null),
};

/** The one package that owns activities. Throws when there are two. */
export function cartActivitiesIn(entries: readonly CartActivities[]): CartActivities {
  if (entries.length > 1) throw new Error('two packages own the activities of carts');
  return entries[0] ?? noActivities;
}
