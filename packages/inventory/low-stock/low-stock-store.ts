import type { Transaction } from '@tradepost/postgres';
import type { SkuTexts } from '../stock/sku-name.ts';
import { isLow, levelColumns, skusWithSafety } from './low-stock.ts';

/** SKU ids above `after`, up to `upTo`. */
export type SkuRange = { readonly after: number; readonly upTo: number };
export type LowSku = SkuTexts & { product_id: number; sku_id: number; stock: number; threshold: number };

/** The id after which the search goes on. Null: another process searches. Locked until the end of the transaction. */
export async function lockScan(tx: Transaction): Promise<number | null> {
  const [row] = await tx<{ after_sku_id: number }[]>`
    select after_sku_id from inventory.low_stock_scan for update skip locked`;
  return row?.after_sku_id ?? null;
}

/** `isLarge`: whether the catalogue has more SKUs than one search compares; null leaves it as it is. */
export async function saveScan(tx: Transaction, after: number, isLarge: boolean | null): Promise<void> {
  await tx`
    update inventory.low_stock_scan set after_sku_id = ${after}, is_large = coalesce(${isLarge}::boolean, is_large)
    where (after_sku_id, is_large) is distinct from (${after}::bigint, coalesce(${isLarge}::boolean, is_large))`;
}

/** The last of the next `limit` SKUs, or null when fewer are left. */
export async function selectRangeEnd(tx: Transaction, after: number, limit: number): Promise<number | null> {
  const [row] = await tx<{ id: number }[]>`
    select id from catalog.sku_stock where id > ${after} order by id limit 1 offset ${limit - 1}`;
  return row?.id ?? null;
}

const within = (tx: Transaction, { after, upTo }: SkuRange) => tx`s.sku_id > ${after} and s.sku_id <= ${upTo}`;

/** Forgets the SKUs whose stock is above the limit again, and those that do not exist any more. */
export async function deleteRecovered(tx: Transaction, range: SkuRange): Promise<void> {
  await tx`
    delete from inventory.low_stock_skus l
    where l.sku_id > ${range.after} and l.sku_id <= ${range.upTo} and l.sku_id not in (
      select k.id from ${skusWithSafety(tx, within(tx, range))}
      where k.id > ${range.after} and k.id <= ${range.upTo} and ${isLow(tx)})`;
}

/** Adds the SKUs on sale that have become low, at most `limit`, in the order of their ids. Returns them. */
export async function insertLow(tx: Transaction, range: SkuRange, limit: number, now: Date): Promise<LowSku[]> {
  return tx<LowSku[]>`
    with found as (
      select ${levelColumns(tx)}, p.title, k.sku_code, k.attrs
      from ${skusWithSafety(tx, within(tx, range))}
      join catalog.product_facts p on p.id = k.product_id and p.status = 1
      where k.status = 'active' and k.id > ${range.after} and k.id <= ${range.upTo} and ${isLow(tx)}
        and not exists (select from inventory.low_stock_skus l where l.sku_id = k.id)
      order by k.id limit ${limit}),
    added as (insert into inventory.low_stock_skus (sku_id, since) select sku_id, ${now} from found)
    select found.*, null as translations from found order by sku_id`;
}
