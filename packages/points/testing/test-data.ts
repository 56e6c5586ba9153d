import { type TestData, withoutConstraints } from '@tradepost/testing/test-data';

/** The paid order 6 used points, and the refunded order 8 has returned its points. Order 3 earned points, less a refund. */
const rows = `
  insert into points.accounts (user_id, balance) values (1, 150), (2, 60);
  insert into points.logs (user_id, type, points, related_id, remark, cause, created_at)
    values (1, 7, 300, 0, '', 'reward:1', now()), (1, 2, -100, 6, '', 'order:6:used', now()),
           (1, 5, -50, 0, 'Correction', 'adjustment:1', now()), (2, 4, 80, 3, '', 'order:3:earned', now()),
           (2, 4, -20, 3, '', 'order:3:earned:60', now()), (2, 2, -30, 8, '', 'order:8:used', now()),
           (2, 2, 30, 8, '', 'order:8:returned:30', now());
  insert into points.order_points (order_id, user_id, used, returned, earned, earn_rate)
    values (6, 1, 100, 0, null, null), (8, 2, 30, 30, null, null), (3, 2, 0, 0, 60, 100);
  update orders.orders set price_steps = '{points}' where id in (6, 8);`;

export const testData: TestData = {
  rows,
  auditCases: [
    ['points.balances', 'a balance that is not the sum', `update points.accounts set balance = 151 where user_id = 1`],
    ['points.balances', 'an account is missing', `delete from points.accounts where user_id = 2`],
    [
      'points.balances',
      'a negative balance',
      `${withoutConstraints('points.accounts')}
       insert into points.logs (user_id, type, points, cause, created_at) values (1, 6, -151, 'expiry:1', now());
       update points.accounts set balance = -1 where user_id = 1`,
    ],
    ['points.sums', 'a change is missing', `delete from points.sum_changes`],
    [
      'points.sums',
      'a change was added twice',
      `insert into points.sums select bucket, sum(issued), sum(consumed) from points.sum_changes group by bucket`,
    ],
    ['points.order_uses', 'a use without rows', `update points.order_points set used = 99 where order_id = 6`],
    [
      'points.order_uses',
      'rows without a use',
      `delete from points.order_points where order_id = 8; update orders.orders set price_steps = null where id = 8`,
    ],
    [
      'points.order_uses',
      'more returned than used',
      `${withoutConstraints('points.order_points')}
       insert into points.logs (user_id, type, points, related_id, cause, created_at) values (1, 2, 101, 6, 'order:6:returned:101', now());
       update points.accounts set balance = 251 where user_id = 1;
       update points.order_points set returned = 101 where order_id = 6`,
    ],
    [
      'points.order_discounts',
      'an order without a use',
      `update orders.orders set price_steps = coalesce(price_steps, '{}') || '{points}' where id = 2`,
    ],
    ['points.order_discounts', 'a use without its order', `update orders.orders set price_steps = null where id = 6`],
    [
      'points.cancelled_orders',
      'points were not returned',
      `delete from points.logs where cause = 'order:8:returned:30';
       update points.order_points set returned = 0 where order_id = 8;
       update points.accounts set balance = 30 where user_id = 2;
       update orders.orders set updated_at = now() - interval '2 hours' where id = 8`,
      ['points.sums'],
    ],
    ['points.order_earnings', 'less in the ledger', `update points.order_points set earned = 61 where order_id = 3`],
    [
      'points.order_earnings',
      'credited twice',
      `insert into points.logs (user_id, type, points, related_id, cause, created_at) values (2, 4, 80, 3, 'again', now());
       update points.accounts set balance = 140 where user_id = 2`,
    ],
  ],
};
