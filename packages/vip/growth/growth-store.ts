import type { Transaction } from '@tradepost/postgres';
import type { GrowthLog } from '../memberships/asset-store.ts';

/** A row to add to the log. `source` is unique. */
export type NewGrowth = Omit<GrowthLog, 'id'> & { source: string };

/** What the log has for these sources and orders. The rows of their shoppers are locked. */
export async function selectGrowthOf(
  tx: Transaction,
  { sources, orderIds }: { sources: readonly string[]; orderIds: readonly number[] },
): Promise<{ source: string; order_id: number; growth_delta: number }[]> {
  return tx<{ source: string; order_id: number; growth_delta: number }[]>`
    select source, order_id, growth_delta from vip.growth_logs where source = any(${[...sources]}::text[])
    union
    select source, order_id, growth_delta from vip.growth_logs
    where order_id > 0 and order_id = any(${[...orderIds]}::bigint[])`;
}

/** Adds rows to the log and writes the balances, which are those of the last row of each shopper. */
export async function writeGrowth(tx: Transaction, rows: readonly NewGrowth[], now: Date): Promise<void> {
  const balances = new Map(rows.map((row) => [row.user_id, row.balance_after]));
  await Promise.all([
    tx`
      insert into vip.growth_logs (user_id, order_id, event_type, growth_delta, balance_after, remark, source, created_at)
      select user_id, order_id, event_type, growth_delta, balance_after, remark, source, created_at
      from json_to_recordset(${JSON.stringify(rows)}::text::json)
        as g (user_id bigint, order_id bigint, event_type text, growth_delta bigint, balance_after bigint, remark text,
              source text, created_at timestamptz)`,
    tx`
      update vip.assets a set growth_value = b.balance, updated_at = ${now}
      from unnest(${[...balances.keys()]}::bigint[], ${[...balances.values()]}::bigint[]) as b (user_id, balance)
      where a.user_id = b.user_id and a.growth_value <> b.balance`,
  ]);
}
