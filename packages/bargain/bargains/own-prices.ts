import type { KindLine } from '@tradepost/activities';
import type { Minor } from '@tradepost/core';
import type { Queryable } from '@tradepost/postgres';
import { type BuyableBargain, selectBuyable } from './purchase-store.ts';

/** For each line the bargain that it buys, the oldest first. A bargain is bought once. */
export function bargainsOf(
  lines: readonly KindLine[],
  buyable: readonly BuyableBargain[],
): (BuyableBargain | undefined)[] {
  const left = [...buyable];
  return lines.map(({ activity_product_id, sku_id }) => {
    const index = left.findIndex(
      (bargain) =>
        bargain.activity_product_id === activity_product_id && (bargain.sku_id === 0 || bargain.sku_id === sku_id),
    );
    return index < 0 ? undefined : left.splice(index, 1)[0];
  });
}

/** The prices that a shopper bargained for, for the lines of the cart. */
export async function ownPrices(
  sql: Queryable,
  userId: number,
  lines: readonly KindLine[],
): Promise<(Minor | undefined)[]> {
  const activityProductIds = [...new Set(lines.map((line) => line.activity_product_id))];
  const buyable = await selectBuyable(sql, { userIds: [userId], activityProductIds, lock: false });
  return bargainsOf(lines, buyable).map((bargain) => bargain?.current_price);
}
