import type { TestData } from '@tradepost/testing/test-data';

/**
 * Two coupons and a full reduction. Order 2 of the first shopper used a coupon that she claimed; staff sent one to the second
 * shopper; the third coupon has expired.
 */
const rows = `
  insert into marketing.coupons (id, name, type, discount, total_count, per_limit, claimed_count, used_count, version_id)
    overriding system value
    values (1, 'One off', 1, 100, 10, 1, 2, 1, 1), (2, 'Old', 2, 9000, 0, 0, 1, 0, 2);
  insert into marketing.coupon_versions (id, coupon_id, name, type, min_amount, discount, description, stack_rule, total_count, per_limit)
    overriding system value
    select id, id, name, type, min_amount, discount, description, stack_rule, total_count, per_limit from marketing.coupons;
  insert into marketing.user_coupons (id, coupon_id, version_id, user_id, source, status, order_id, used_at)
    overriding system value
    values (1, 1, 1, 1, 'claim', 2, 2, now()), (2, 1, 1, 2, 'send', 1, null, null), (3, 2, 2, 2, 'vip', 3, null, null);
  select setval('marketing.coupons_id_seq', 2), setval('marketing.coupon_versions_id_seq', 2), setval('marketing.user_coupons_id_seq', 3);
  update orders.orders set price_steps = '{coupon}' where id = 2;
  insert into marketing.full_reductions (name, tiers) values ('50 off', '[{"min": 100000, "reduce": 5000}]');`;

const ended = `
  update marketing.coupon_versions set end_at = now() - interval '3 hours' where id = 1;
  update marketing.coupons set end_at = now() - interval '3 hours' where id = 1;
  update marketing.user_coupons set end_at = now() - interval '3 hours' where coupon_id = 1;`;

export const testData: TestData = {
  rows,
  auditCases: [
    [
      'marketing.coupon_counts',
      'one not counted',
      `update marketing.coupons set claimed_count = 1, used_count = 1 where id = 1`,
    ],
    ['marketing.coupon_counts', 'one sent too many', `update marketing.coupons set used_count = 2 where id = 1`],
    ['marketing.coupon_counts', 'a coupon of a shopper was deleted', `delete from marketing.user_coupons where id = 3`],
    [
      'marketing.coupon_limits',
      'more than for one shopper',
      `update marketing.user_coupons set user_id = 1 where id = 2`,
    ],
    [
      'marketing.coupon_limits',
      'more than for all shoppers',
      `update marketing.coupons set total_count = 1 where id = 1; update marketing.coupon_versions set total_count = 1 where id = 1`,
    ],
    ['marketing.coupon_versions', 'another discount', `update marketing.coupons set discount = 200 where id = 1`],
    [
      'marketing.coupon_versions',
      'another end',
      `update marketing.user_coupons set end_at = now() + interval '1 day' where id = 2`,
    ],
    [
      'marketing.coupon_versions',
      'the version of another coupon',
      `update marketing.user_coupons set version_id = 1 where id = 3`,
    ],
    [
      'marketing.used_coupons',
      'of a cancelled order',
      `update marketing.user_coupons set status = 2, order_id = 4, used_at = now() where id = 2;
       update orders.orders set price_steps = coalesce(price_steps, '{}') || '{coupon}' where id = 4`,
    ],
    [
      'marketing.used_coupons',
      'of an order of another shopper',
      `update marketing.user_coupons set status = 2, order_id = 2, used_at = now() where id = 2`,
    ],
    [
      'marketing.used_coupons',
      'not returned after a refund before shipment',
      `update marketing.user_coupons set status = 2, order_id = 8, used_at = now() where id = 2;
       update orders.orders set price_steps = coalesce(price_steps, '{}') || '{coupon}', updated_at = now() - interval '2 hours'
       where id = 8`,
    ],
    [
      'marketing.used_coupons',
      'of an order that has recorded none',
      `update orders.orders set price_steps = null where id = 2`,
    ],
    [
      'marketing.order_coupons',
      'a discount without a used coupon',
      `update marketing.user_coupons set status = 1, order_id = null, used_at = null where id = 1`,
    ],
    [
      'marketing.order_coupons',
      'an order without a coupon that recorded one',
      `update orders.orders set price_steps = '{coupon}' where id = 3`,
    ],
    ['marketing.coupons_expired', 'still unused', ended],
    [
      'marketing.full_reductions',
      'more than may be enabled',
      `insert into marketing.full_reductions (name, tiers) select 'x', '[]' from generate_series(1, 20)`,
    ],
  ],
  makers: {
    coupons: async ({ send, staff, repeat, nextNumber }, count) =>
      repeat(count, async () => {
        const coupon = { name: `Coupon ${nextNumber()}`, type: 1, discount: 0.01 };
        return (await send('POST', '/admin/api/marketing/coupons', staff, coupon)).id;
      }),
    // Coupons of the owner, for `coupon_ids` of an order.
    '/api/v1/user/coupons': async ({ sql, owner, make }, count) => {
      const [coupon_id] = await make('coupons', 1);
      const made = await sql<{ id: number }[]>`
        with counted as (
          update marketing.coupons set claimed_count = claimed_count + ${count} where id = ${Number(coupon_id)}
          returning id, version_id
        )
        insert into marketing.user_coupons (coupon_id, version_id, user_id, source)
        select id, version_id, ${owner.id}, 'claim' from counted, generate_series(1, ${count}) returning id`;
      return made.map(({ id }) => id);
    },
    // Disabled, so that they do not change the amounts of orders.
    'full-reduce': async ({ sql }, count) => {
      const made = await sql<{ id: number }[]>`
        insert into marketing.full_reductions (name, tiers, status)
        select 'Reduction ' || n, '[{"min": 100000, "reduce": 100}]', 0 from generate_series(1, ${count}) n returning id`;
      return made.map(({ id }) => id);
    },
  },
};
