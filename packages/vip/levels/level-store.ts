import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import { maxLevels } from '../limits.ts';
import { rowStore } from '../row-store.ts';

/** `discount_rate` in 1/10,000. */
export type LevelFields = {
  name: string;
  growth_threshold: number;
  discount_rate: number;
  sort: number;
  status: 0 | 1;
};
export type Level = LevelFields & { id: number; created_at: Date; updated_at: Date };

/**
 * The level of the growth of `vip.assets a`: a relation with the columns id and name, without a row when no level fits. Of two levels
 * that begin at the same growth the newer one counts.
 */
export const levelOfAsset = (sql: Queryable): Statement => sql`
  (select v.id, v.name from vip.levels v where v.status = 1 and v.growth_threshold <= a.growth_value
   order by v.growth_threshold desc, v.id desc limit 1)`;

/** The levels, lowest first. `remove` does not check for member prices: see `deleteLevel`. */
export const levels = rowStore<LevelFields>({
  table: 'vip.levels',
  columns: ['name', 'growth_threshold', 'discount_rate', 'sort', 'status'],
  order: (sql) => sql`sort, growth_threshold, id`,
  most: maxLevels,
});

/** Locks the level so that it is not deleted before the transaction ends. Returns false when it does not exist. */
export async function holdLevel(tx: Transaction, id: number): Promise<boolean> {
  const rows = await tx`select from vip.levels where id = ${id} for key share`;
  return rows.length > 0;
}

/** Deletes a locked level. Returns false when it has member prices. */
export async function deleteLevel(tx: Transaction, id: number): Promise<boolean> {
  const rows = await tx`
    delete from vip.levels where id = ${id} and not exists (select from vip.sku_prices where level_id = ${id}) returning 1`;
  return rows.length > 0;
}
