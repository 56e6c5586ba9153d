import type { Maker, MakerContext } from '@tradepost/testing/routes/makers';
import { makeRunningOffer, newestOffer } from '@tradepost/testing/running-offer';
import { type TestData, withoutConstraints } from '@tradepost/testing/test-data';

/**
 * A group buy of SKU 3. Group 1 is open, with the paid order N6 of its leader. Group 2 is complete: its leader has no order, the other
 * member has the unpaid N7. Group 3 has failed, and its order N11 was cancelled and refunded.
 */
const rows = `
  insert into activities.activities (id, type, name, start_at, end_at) overriding system value
    values (2, 'group_buy', 'Two for a jug', now() - interval '1 day', now() + interval '1 day');
  insert into activities.activity_products (id, activity_id, product_id, sku_id, activity_price, sold_qty) overriding system value
    values (11, 2, 2, 3, 500, 2);
  update orders.order_items
    set activity_product_id = 11, activity_id = 2, activity_type = 'group_buy', activity_title = 'Two for a jug'
    where order_id in (6, 7, 11);
  update orders.orders set price_steps = coalesce(price_steps, '{}') || '{activity}' where id in (6, 7, 11);
  insert into activities.order_uses (order_id, activity_product_id, qty, returned_qty, created_at)
    values (6, 11, 1, 0, now()), (7, 11, 1, 0, now()), (11, 11, 1, 1, now());
  insert into group_buy.groups (id, activity_id, activity_product_id, activity_name, product_id, sku_id, group_price, leader_id,
      group_size, joined_count, status, expire_at, created_at, ended_at) overriding system value
    values (1, 2, 11, 'Two for a jug', 2, 3, 500, 1, 2, 1, 'pending', now() + interval '1 day', now(), null),
           (2, 2, 11, 'Two for a jug', 2, 3, 500, 2, 2, 2, 'success', now() + interval '1 day', now(), now()),
           (3, 2, 11, 'Two for a jug', 2, 3, 500, 2, 2, 1, 'failed', now(), now() - interval '1 day', now());
  insert into group_buy.members (group_id, user_id, order_id, is_leader, created_at)
    values (1, 1, 6, true, now()), (2, 2, null, true, now()), (2, 1, 7, false, now()), (3, 2, 11, true, now());
  select setval('group_buy.groups_id_seq', 100);`;

/** Open groups of the owner, for the newest product of the running group buy. */
const makeGroups: Maker = async (context, count) => {
  const { sql, owner } = context;
  const { activity_id, row_id, product_id, sku_id } = await makeRunningOffer(context, 'group_buy');
  const made = await sql<{ id: number }[]>`
    with made as (
      insert into group_buy.groups (activity_id, activity_product_id, activity_name, product_id, sku_id, group_price, leader_id,
        group_size, expire_at, created_at)
      select ${activity_id}, ${row_id}, 'Running', ${product_id}, ${sku_id}, 500, ${owner.id}, 2, now() + interval '1 day', now()
      from generate_series(1, ${count}::int) returning id, leader_id
    ), leaders as (
      insert into group_buy.members (group_id, user_id, is_leader, created_at) select id, leader_id, true, now() from made
    )
    select id from made`;
  return made.map(({ id }) => id);
};

/** Orders of the owner with a line of the newest product of the running group buy. */
const makeGroupOrders: Maker = async ({ sql, send, owner, repeat }: MakerContext, count, { order }) => {
  const { row_id, sku_id } = await newestOffer({ sql }, 'group_buy');
  const items = [{ sku_id, activity_product_id: row_id }];
  return repeat(count, async () => {
    const { id } = await send('POST', '/api/v1/orders', owner.token, { address_id: owner.address_id, items });
    if (order !== 'unpaid') await send('POST', `/api/v1/orders/${id}/pay`, owner.token);
    return id;
  });
};

const open = 'POST /api/v1/group-buy/orders';

export const testData: TestData = {
  rows,
  auditCases: [
    [
      'group_buy.joined',
      'a member too few',
      `update group_buy.groups set joined_count = 2, group_size = 3 where id = 1`,
    ],
    ['group_buy.joined', 'another leader', `update group_buy.groups set leader_id = 1 where id = 3`],
    [
      'group_buy.full',
      'a full group is open',
      `${withoutConstraints('group_buy.groups')} update group_buy.groups set status = 'pending', ended_at = null where id = 2`,
    ],
    [
      'group_buy.full',
      'a group succeeded too early',
      `${withoutConstraints('group_buy.groups')} update group_buy.groups set status = 'success', ended_at = now() where id = 1`,
    ],
    [
      'group_buy.orders',
      'of another shopper',
      `update group_buy.members set user_id = 99 where group_id = 2 and not is_leader`,
    ],
    ['group_buy.orders', 'without a line of the group', `update group_buy.members set order_id = 5 where group_id = 1`],
    ['group_buy.orders', 'that does not exist', `update group_buy.members set order_id = 99 where group_id = 1`],
    [
      'group_buy.cancelled',
      'is still in its open group',
      `update group_buy.groups set status = 'pending', ended_at = null, expire_at = now() + interval '1 day' where id = 3`,
    ],
    [
      'group_buy.held',
      'of an open group was shipped',
      `insert into group_buy.groups (activity_id, activity_product_id, activity_name, product_id, sku_id, group_price, leader_id,
         group_size, expire_at, created_at) values (1, 1, 'Sale', 1, 1, 1000, 2, 2, now() + interval '1 day', now());
       insert into group_buy.members (group_id, user_id, order_id, is_leader, created_at)
         select max(id), 2, 3, true, now() from group_buy.groups`,
    ],
    [
      'group_buy.refunds',
      'is paid and was forgotten',
      `update group_buy.groups set status = 'failed', ended_at = now() where id = 1`,
    ],
    [
      'group_buy.expired',
      'an open group',
      `update group_buy.groups set expire_at = now() - interval '1 hour' where id = 1`,
    ],
    [
      'group_buy.expired',
      'a paid order of a failed group',
      `update group_buy.groups set status = 'failed', ended_at = now() - interval '1 hour' where id = 1;
       update group_buy.members set refund_due = true where group_id = 1;
       update orders.orders set paid_at = now() - interval '1 hour' where id = 6`,
    ],
  ],
  makers: {
    '/api/v1/group-buy/orders': makeGroups,
    '/admin/api/group-buy/orders': makeGroups,
    [`${open} activity_id`]: async (context) => [(await makeRunningOffer(context, 'group_buy')).activity_id],
    [`${open} product_id`]: async (context) => [(await newestOffer(context, 'group_buy')).product_id],
    [`${open} sku_id`]: async (context) => [(await newestOffer(context, 'group_buy')).sku_id],
    [`${open}/:id/join order_id`]: makeGroupOrders,
  },
};
