import { brokenBooks } from './books.ts';
import type { TestDatabase } from './database.ts';

/** What the books say nothing about, as SQL that finds the exceptions. */
const alsoTrue: Record<string, string> = {
  'a move in the history does not begin where the last one ended': `
    select order_id from (
      select *, lag(to_status) over (partition by order_id order by id) as before from orders.order_history) as steps
    where from_status is distinct from before`,
  'a shipped order has not exactly one first shipment with its waybill number': `
    select o.id, o.status, o.tracking_no, count(s.id) as shipments
    from orders.orders o
    left join fulfilment.shipments s on s.order_id = o.id and s.biz_type = 'initial' and s.tracking_no = o.tracking_no
    group by o.id having count(s.id) <> case when o.status in (3, 4) then 1 else 0 end`,
  'a shopper with addresses has not exactly one default': `
    select user_id from identity.addresses group by user_id having count(*) filter (where is_default) <> 1`,
};

/**
 * What is wrong in the tables after whatever customers and staff did; empty when nothing is. For products whose stock
 * only orders moved since they were inserted.
 */
export async function invariantErrors({ sql }: TestDatabase): Promise<string[]> {
  const faults = await brokenBooks(sql);
  for (const [name, query] of Object.entries(alsoTrue))
    for (const row of await sql.unsafe(query)) faults.push(`${name}: ${JSON.stringify(row)}`);
  return faults;
}
