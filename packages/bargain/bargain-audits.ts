import type { Audit } from '@tradepost/runtime';

/** The time that the sweep of expired bargains may take. */
const sweepGrace = '10 minutes';

export const bargainAudits: readonly Audit[] = [
  {
    name: 'bargain.cuts',
    about: 'the cuts of a bargain add up to what was cut, and help_count is their number',
    query: (sql) => sql`
      select b.id as bargain_id, b.start_price, b.current_price, coalesce(h.cut, 0) as cuts, b.help_count,
             coalesce(h.helps, 0) as helps
      from bargain.bargains b
      left join (select bargain_id, sum(cut_amount)::bigint as cut, count(*) as helps
                 from bargain.helps group by bargain_id) as h on h.bargain_id = b.id
      where b.start_price - b.current_price <> coalesce(h.cut, 0) or b.help_count <> coalesce(h.helps, 0)`,
  },
  {
    name: 'bargain.floor',
    about: 'a bargain has succeeded exactly when it is at its floor price, and is never below it',
    query: (sql) => sql`
      select id as bargain_id, status, floor_price, current_price, help_count, max_helpers from bargain.bargains
      where (status = 'success') <> (current_price = floor_price) or current_price < floor_price
         or help_count > max_helpers`,
  },
  {
    name: 'bargain.helpers',
    about: 'the owner of a bargain does not help it',
    query: (sql) => sql`
      select h.id as help_id, h.bargain_id, h.user_id from bargain.helps h join bargain.bargains b on b.id = h.bargain_id
      where h.user_id = b.owner_id`,
  },
  {
    name: 'bargain.bought',
    about: 'a bargain was bought by its owner, in an order that has one piece of it and is not cancelled',
    // The event of an order that was refunded in full is read within seconds; until then it is in the outbox.
    query: (sql) => sql`
      select b.id as bargain_id, b.order_id, b.status, b.owner_id, o.user_id as buyer, o.status as order_status
      from bargain.bargains b
      left join orders.orders o on o.id = b.order_id
      left join orders.order_items i on i.order_id = b.order_id and i.activity_product_id = b.activity_product_id
        and (b.sku_id = 0 or i.sku_id = b.sku_id)
      where b.order_id is not null
        and (b.status <> 'success' or o.user_id is distinct from b.owner_id or i.qty is distinct from 1
          or (o.status = 6 and not exists (
            select from runtime.outbox e where e.dispatched_at is null and e.subject = 'order:' || b.order_id)))`,
  },
  {
    name: 'bargain.expired',
    about: 'bargains fail when they expire',
    pendingWork: true,
    query: (sql, now) => sql`
      select id as bargain_id, expire_at from bargain.bargains
      where status = 'pending' and expire_at < ${now} - ${sweepGrace}::interval`,
  },
];
