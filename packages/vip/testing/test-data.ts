import type { Maker } from '@tradepost/testing/routes/makers';
import { insertProduct } from '@tradepost/testing/shop';
import { type TestData, withoutConstraints } from '@tradepost/testing/test-data';

/**
 * The second shopper is a member by two purchases, one of them through a payment provider, has an unpaid one, has claimed a coupon, and
 * has growth of an order, less its refund.
 */
const rows = `
  insert into vip.plans (id, name, months, price) overriding system value values (1, 'Month', 1, 1900);
  insert into vip.levels (id, name, growth_threshold) overriding system value values (1, 'Silver', 0), (2, 'Gold', 1000);
  insert into vip.sku_prices (product_id, sku_id, level_id, vip_price) values (1, 1, 1, 900);
  insert into vip.coupon_rules (id, name, coupon_name, monthly_quota) overriding system value values (1, 'Monthly', 'Ten off', 2);
  insert into vip.assets (user_id, current_plan_id, vip_start_at, vip_end_at, months, growth_value, status)
    values (2, 1, now(), date_trunc('day', now()) + interval '60 days', 2, 30, 1);
  insert into vip.growth_logs (user_id, order_id, event_type, growth_delta, balance_after, source, created_at)
    values (2, 3, 'order_paid', 35, 35, 'order.paid:3', now()),
           (2, 3, 'order_refund', -5, 30, 'after_sale.refunded:1', now());
  insert into vip.monthly_claims (user_id, rule_id, month, claimed, quota, user_coupon_ids, updated_at)
    values (2, 1, 202603, 1, 2, '{7}', now());
  insert into vip.purchases (id, user_id, plan_id, plan_name, months, amount, provider, status, created_at, expires_at, paid_at,
      starts_at, ends_at) overriding system value
    values (1, 2, 1, 'Month', 1, 1900, 'instant', 'paid', now(), now(), now(), now(), date_trunc('day', now()) + interval '30 days'),
           (2, 2, 1, 'Month', 1, 1900, 'sandbox', 'paid', now(), now(), now(), now(), date_trunc('day', now()) + interval '60 days'),
           (3, 2, 1, 'Month', 1, 1900, 'sandbox', 'pending', now(), now() + interval '15 min', null, null, null);
  insert into orders.payments (subject, subject_id, provider, method, amount, status, payment_no, trade_no, paid_at)
    values ('vip.purchase', 2, 'sandbox', '', 1900, 'succeeded', 'VIP2', 'V2', now()),
           ('vip.purchase', 3, 'sandbox', '', 1900, 'pending', 'VIP3', null, null);`;

/** Makes rows whose POST answers nothing, and answers their ids. */
const listed =
  (path: string, body: (n: number) => object): Maker =>
  async ({ send, staff, repeat, nextNumber }, count) => {
    await repeat(count, () => send('POST', path, staff, body(nextNumber())));
    const { list } = await send('GET', `${path}?size=${count}`, staff);
    return list.map((row: { id: number }) => row.id);
  };

const makeLevels: Maker = async ({ send, staff, nextNumber, sql }, count) => {
  for (let n = 0; n < count; n += 1)
    await send('POST', '/admin/api/vip/levels', staff, { name: `Level ${nextNumber()}`, growth_min: 10 });
  const made = await sql<{ id: number }[]>`select id from vip.levels order by id desc limit ${count}`;
  return made.map(({ id }) => id);
};

/** The level that was added first, or a new one: the number of levels has a bound. */
const anyLevel: Maker = async ({ sql, make }, _count, options) => {
  const [first] = await sql<{ id: number }[]>`select id from vip.levels order by id limit 1`;
  return first ? [first.id] : make('levels', 1, options);
};

export const testData: TestData = {
  rows,
  auditCases: [
    ['vip.growth', 'a balance that the log does not explain', `update vip.assets set growth_value = 99`],
    ['vip.growth', 'a log without a membership row', `delete from vip.assets`, ['vip.months']],
    [
      'vip.growth_steps',
      'a balance that skips a row',
      `update vip.growth_logs set balance_after = 29 where source = 'after_sale.refunded:1'`,
    ],
    [
      'vip.growth_orders',
      'more than the order',
      `update vip.growth_logs set growth_delta = 36, balance_after = 36 where source = 'order.paid:3';
       update vip.growth_logs set growth_delta = -6 where source = 'after_sale.refunded:1'`,
    ],
    [
      'vip.growth_orders',
      'an order of another shopper',
      `update vip.growth_logs set order_id = 2 where source = 'order.paid:3'`,
    ],
    [
      'vip.assets',
      'two memberships',
      `alter table vip.assets drop constraint assets_of_user;
       insert into vip.assets (user_id, growth_value) values (2, 30)`,
      ['vip.months'],
    ],
    ['vip.assets', 'of no account', `insert into vip.assets (user_id) values (99)`],
    ['vip.months', 'more months than were paid', `update vip.assets set months = 3`],
    [
      'vip.months',
      'it ends later than its purchases',
      `update vip.assets set vip_end_at = vip_end_at + interval '1 day'`,
    ],
    ['vip.payments', 'paid without a payment', `delete from orders.payments where payment_no = 'VIP2'`],
    [
      'vip.payments',
      'money and no membership',
      `update orders.payments set status = 'succeeded', trade_no = 'V3', paid_at = now() where payment_no = 'VIP3'`,
    ],
    [
      'vip.payments',
      'a payment of no purchase',
      `update orders.payments set subject_id = 99 where payment_no = 'VIP3'`,
    ],
    [
      'vip.claims',
      'more than the quota',
      `${withoutConstraints('vip.monthly_claims')} update vip.monthly_claims set claimed = 3, user_coupon_ids = '{7,8,9}'`,
    ],
    ['vip.claims', 'a claim without a coupon', `update vip.monthly_claims set user_coupon_ids = '{}'`],
  ],
  makers: {
    plans: listed('/admin/api/vip/plans', (n) => ({ name: `Plan ${n}`, months: 1, price: 19 })),
    levels: makeLevels,
    'coupon-rules': listed('/admin/api/vip/coupon-rules', (n) => ({ name: `Rule ${n}`, coupon_name: `Coupon ${n}` })),
    // The path of a claim names a rule.
    rules: ({ make }, count, options) => make('coupon-rules', count, options),
    'sku-prices': async (context, count, options) => {
      const { send, staff, shop, repeat } = context;
      const [level_id] = await anyLevel(context, 1, options);
      return repeat(count, async () => {
        const { id: product_id, sku_ids } = await insertProduct(shop.database);
        const body = { product_id, sku_id: sku_ids[0], level_id, vip_price: 9.9 };
        return (await send('POST', '/admin/api/vip/sku-prices', staff, body)).id;
      });
    },
  },
};
