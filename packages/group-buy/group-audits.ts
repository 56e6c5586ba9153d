import type { Audit } from '@tradepost/runtime';

/** The time that the sweep of expired groups may take. */
const sweepGrace = '10 minutes';

export const groupAudits: readonly Audit[] = [
  {
    name: 'group_buy.joined',
    about: 'joined_count of a group is the number of its members, and one of them is its leader',
    query: (sql) => sql`
      select g.id as group_id, g.joined_count, coalesce(m.members, 0) as members, g.leader_id, m.leader
      from group_buy.groups g
      left join (select group_id, count(*) as members, max(user_id) filter (where is_leader) as leader
                 from group_buy.members group by group_id) as m on m.group_id = g.id
      where g.joined_count is distinct from m.members or g.leader_id is distinct from m.leader`,
  },
  {
    name: 'group_buy.full',
    about: 'a group has succeeded exactly when it is full',
    query: (sql) => sql`
      select id as group_id, status, joined_count, group_size from group_buy.groups
      where (status = 'success') <> (joined_count = group_size) or joined_count > group_size`,
  },
  {
    name: 'group_buy.orders',
    about: 'the order of a member belongs to the member and has a line of the group',
    query: (sql) => sql`
      select m.id as member_id, m.group_id, m.order_id, m.user_id, o.user_id as buyer
      from group_buy.members m
      join group_buy.groups g on g.id = m.group_id
      left join orders.orders o on o.id = m.order_id
      left join (select distinct i.order_id, i.activity_product_id, s.sku_id
                 from orders.order_items i cross join lateral (values (i.sku_id), (0)) as s (sku_id)
                 where i.activity_product_id > 0) as l
        on l.order_id = m.order_id and l.activity_product_id = g.activity_product_id and l.sku_id = g.sku_id
      where m.order_id is not null
        and (o.user_id is distinct from m.user_id or l.order_id is null)`,
  },
  {
    name: 'group_buy.cancelled',
    about: 'a cancelled order has left its open group',
    // The dispatcher removes it within seconds: the event of the cancellation is in the outbox until then.
    query: (sql) => sql`
      select m.group_id, m.order_id from group_buy.members m
      join group_buy.groups g on g.id = m.group_id join orders.orders o on o.id = m.order_id
      where g.status = 'pending' and o.status = 6
        and not exists (
          select from runtime.outbox e where e.dispatched_at is null and e.subject = 'order:' || m.order_id)`,
  },
  {
    name: 'group_buy.held',
    about: 'no order of a group that is open or has failed was shipped',
    query: (sql) => sql`
      select m.group_id, m.order_id, g.status from group_buy.members m
      join group_buy.groups g on g.id = m.group_id join orders.orders o on o.id = m.order_id
      where g.status <> 'success' and o.status in (3, 4)`,
  },
  {
    name: 'group_buy.refunds',
    about: 'a paid order of a failed group is to be cancelled and refunded, or that has happened',
    query: (sql) => sql`
      select m.group_id, m.order_id from group_buy.members m
      join group_buy.groups g on g.id = m.group_id join orders.orders o on o.id = m.order_id
      where g.status = 'failed' and o.status in (1, 2) and not m.refund_due`,
  },
  {
    name: 'group_buy.expired',
    about: 'groups fail when they expire, and their paid orders are cancelled',
    pendingWork: true,
    query: (sql, now) => sql`
      select id as group_id, status, expire_at, null::bigint as order_id from group_buy.groups
      where status = 'pending' and expire_at < ${now} - ${sweepGrace}::interval
      union all
      select m.group_id, g.status, g.expire_at, m.order_id from group_buy.members m
      join group_buy.groups g on g.id = m.group_id join orders.orders o on o.id = m.order_id
      where m.refund_due and o.status = 2 and greatest(g.ended_at, o.paid_at) < ${now} - ${sweepGrace}::interval`,
  },
];
