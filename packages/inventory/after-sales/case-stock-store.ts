import type { Transaction } from '@tradepost/postgres';
import type { CaseStock } from '../reservations/provider.ts';

type Action = 'restore' | 'deduct';
type Row = { biz_no: string; sku_id: number; qty: number };

/**
 * Records what cases move and returns the new rows. A case that has rows of this action already gets none; the caller holds the
 * lock of the case. SKUs that do not exist are left out.
 */
export async function insertCaseMoves(
  tx: Transaction,
  cases: readonly CaseStock[],
  { action, provider, now }: { action: Action; provider: string; now: Date },
): Promise<Row[]> {
  const rows = cases.flatMap(({ biz_no, lines }) => lines.map(({ sku_id, qty }) => ({ biz_no, sku_id, qty })));
  return tx<Row[]>`
    insert into inventory.after_sale_moves (biz_no, action, sku_id, qty, provider, created_at)
    select r.biz_no, ${action}, r.sku_id, r.qty, ${provider}, ${now}
    from unnest(${rows.map((r) => r.biz_no)}::text[], ${rows.map((r) => r.sku_id)}::bigint[],
                ${rows.map((r) => r.qty)}::int[]) as r (biz_no, sku_id, qty)
    join catalog.sku_stock s on s.id = r.sku_id
    where not exists (select from inventory.after_sale_moves m where m.biz_no = r.biz_no and m.action = ${action})
    order by r.biz_no, r.sku_id
    on conflict (biz_no, action, sku_id) do nothing
    returning biz_no, sku_id, qty`;
}

/** Those of these cases that have moved stock by this action, and the SKUs that do not exist. */
export async function selectCaseFacts(
  tx: Transaction,
  cases: readonly CaseStock[],
  action: Action,
): Promise<{ moved: Set<string>; missing: Set<number> }> {
  const bizNos = cases.map((one) => one.biz_no);
  const skuIds = [...new Set(cases.flatMap((one) => one.lines.map((line) => line.sku_id)))];
  const [moved, missing] = await Promise.all([
    tx<{ biz_no: string }[]>`
      select distinct biz_no from inventory.after_sale_moves
      where biz_no = any(${bizNos}::text[]) and action = ${action}`,
    tx<{ sku_id: number }[]>`
      select a.sku_id from unnest(${skuIds}::bigint[]) as a (sku_id)
      where not exists (select from catalog.sku_stock s where s.id = a.sku_id)`,
  ]);
  return { moved: new Set(moved.map((row) => row.biz_no)), missing: new Set(missing.map((row) => row.sku_id)) };
}
