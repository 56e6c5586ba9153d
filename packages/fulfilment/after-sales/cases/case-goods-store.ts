import type { Queryable } from '@tradepost/postgres';

/** What one case has moved: the goods that came into stock, and the lines of an exchange whose replacement was sent. */
export type CaseGoods = {
  order_id: number;
  restored: { sku_id: number; qty: number }[];
  replaced: { order_item_id: number; qty: number }[];
};

/** The goods that the cases of these orders have moved, one row per case. */
export async function selectCaseGoods(sql: Queryable, orderIds: readonly number[]): Promise<CaseGoods[]> {
  return sql<CaseGoods[]>`
    select c.order_id,
      (select coalesce(json_agg(json_build_object('sku_id', r.sku_id, 'qty', r.qty)), '[]')
       from inventory.restored_stock r where r.biz_no = c.case_no) as restored,
      (select coalesce(json_agg(json_build_object('order_item_id', i.order_item_id, 'qty', i.qty)), '[]')
       from fulfilment.after_sale_items i
       where i.case_id = c.id and c.case_type = 'exchange' and c.status in ('reshipped', 'completed')) as replaced
    from fulfilment.after_sale_cases c where c.order_id = any(${[...orderIds]}::bigint[])`;
}
