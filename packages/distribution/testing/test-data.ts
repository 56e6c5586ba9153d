import type { Maker, MakerContext } from '@tradepost/testing/routes/makers';
import { type TestData, withoutConstraints } from '@tradepost/testing/test-data';

/**
 * Ann (1) is a distributor, and Bob (2) her customer. Bob's order N3 was paid, completed and refunded in part: it earned Ann 3.00 of
 * 35.00 at 10 %. Of it 2.00 are frozen and 1.00 was withdrawn. Bob's cancelled order N4 earned nothing. One withdrawal was rejected.
 */
const rows = `
  insert into distribution.distributors (id, user_id, parent_id, level, status, real_name, phone, total_earnings, frozen_amount,
      withdrawn_amount, total_orders)
    values (1, 1, null, 1, 'active', 'Ann', '13800000000', 300, 200, 100, 1);
  insert into distribution.bindings (user_id, distributor_id) values (2, 1);
  insert into distribution.commissions (id, order_id, buyer_id, distributor_id, level, order_amount, refunded_amount, rate,
      commission, status, settled_at, cancelled_at) overriding system value
    values (1, 3, 2, 1, 1, 3500, 500, 1000, 300, 'settled', now(), null),
           (2, 4, 2, 1, 1, 1000, 0, 1000, 100, 'cancelled', null, now());
  insert into distribution.refunds (case_id, order_id, amount) values (1, 3, 500);
  insert into distribution.withdrawals (id, distributor_id, amount, fee, actual_amount, status, reject_reason, bank_name,
      account_name, processed_at, completed_at)
    values (1, 1, 100, 1, 99, 'completed', '', 'Bank', 'Ann', now(), now()),
           (2, 1, 200, 2, 198, 'approved', '', 'Bank', 'Ann', now(), null),
           (3, 1, 50, 0, 50, 'rejected', 'Wrong account', 'Bank', 'Ann', now(), null);
  insert into distribution.withdrawal_history (withdrawal_id, from_status, to_status, actor_type, actor_id, reason)
    values (1, '', 'pending', 'user', 1, ''), (1, 'pending', 'approved', 'admin', 1, ''),
           (1, 'approved', 'completed', 'admin', 1, ''), (2, '', 'pending', 'user', 1, ''),
           (2, 'pending', 'approved', 'admin', 1, ''), (3, '', 'pending', 'user', 1, ''),
           (3, 'pending', 'rejected', 'admin', 1, 'Wrong account');
  insert into distribution.ledger (move, distributor_id, account, amount, commission_id, withdrawal_id)
    values ('commission:1:settled', 1, 'earnings', -350, 1, null), ('commission:1:settled', 1, 'available', 350, 1, null),
           ('commission:1:case:1', 1, 'earnings', 50, 1, null), ('commission:1:case:1', 1, 'available', -50, 1, null),
           ('withdrawal:1:requested', 1, 'available', -100, null, 1), ('withdrawal:1:requested', 1, 'frozen', 100, null, 1),
           ('withdrawal:1:completed', 1, 'frozen', -100, null, 1), ('withdrawal:1:completed', 1, 'withdrawn', 100, null, 1),
           ('withdrawal:2:requested', 1, 'available', -200, null, 2), ('withdrawal:2:requested', 1, 'frozen', 200, null, 2),
           ('withdrawal:3:requested', 1, 'available', -50, null, 3), ('withdrawal:3:requested', 1, 'frozen', 50, null, 3),
           ('withdrawal:3:rejected', 1, 'available', 50, null, 3), ('withdrawal:3:rejected', 1, 'frozen', -50, null, 3);
  select setval('distribution.' || name || '_id_seq', 100) from unnest(array['distributors', 'commissions', 'withdrawals']) as name;`;

const small = { order: 'paid', large: false } as const;

/** New shoppers. */
async function makeShoppers({ sql, nextNumber }: MakerContext, count: number): Promise<number[]> {
  const names = Array.from({ length: count }, () => `distribution${nextNumber()}`);
  const made = await sql<{ id: number }[]>`
    insert into identity.shoppers (username, nickname) select name, name from unnest(${names}::text[]) as n (name) returning id`;
  return made.map(({ id }) => id);
}

const distributorsAs =
  (status: 'pending' | 'active'): Maker =>
  async (context, count) => {
    const users = await makeShoppers(context, count);
    const made = await context.sql<{ id: number }[]>`
      insert into distribution.distributors (user_id, level, status, real_name, phone)
      select u, 1, ${status}, 'Ann', '13800000000' from unnest(${users}::bigint[]) as u returning id`;
    return made.map(({ id }) => id);
  };
const makeDistributors = distributorsAs('active');

/** Commissions of 1.29 of paid orders of the owner, for a new distributor each. */
const makeCommissions: Maker = async (context, count) => {
  const { sql, owner } = context;
  const distributors = await makeDistributors(context, count, small);
  const orders = await context.make('orders', count, small);
  const made = await sql<{ id: number }[]>`
    insert into distribution.commissions (order_id, buyer_id, distributor_id, level, order_amount, rate, commission, status)
    select o, ${owner.id}, d, 1, 1290, 1000, 129, 'pending'
    from unnest(${orders.map(Number)}::bigint[], ${distributors.map(Number)}::bigint[]) as n (o, d) returning id`;
  return made.map(({ id }) => id);
};

/** Withdrawals of 1.00 that wait: every second one is approved. A settled commission pays for each. */
const makeWithdrawals: Maker = async (context, count) => {
  const { sql } = context;
  const commissions = await makeCommissions(context, count, small);
  return sql.begin(async (tx) => {
    const made = await tx<{ id: number }[]>`
      with settled as (
        update distribution.commissions set status = 'settled', settled_at = now()
        where id = any(${commissions.map(Number)}::bigint[]) returning id, distributor_id, commission),
      paid as (
        update distribution.distributors d
        set total_earnings = 129, available_amount = 29, frozen_amount = 100, total_orders = 1
        from settled where d.id = settled.distributor_id),
      asked as (
        insert into distribution.withdrawals (distributor_id, amount, fee, actual_amount, bank_name, account_name)
        select distributor_id, 100, 0, 100, 'Bank', 'Ann' from settled returning id, distributor_id),
      history as (
        insert into distribution.withdrawal_history (withdrawal_id, from_status, to_status, actor_type, actor_id)
        select id, '', 'pending', 'user', 1 from asked),
      ledger as (
        insert into distribution.ledger (move, distributor_id, account, amount, commission_id, withdrawal_id)
        select 'commission:' || id || ':settled', distributor_id, account, sign * commission, id, null
        from settled, (values ('earnings', -1), ('available', 1)) as a (account, sign)
        union all
        select 'withdrawal:' || id || ':requested', distributor_id, account, amount, null, id
        from asked, (values ('available', -100), ('frozen', 100)) as a (account, amount))
      select id from asked order by id`;
    const approved = made.map(({ id }) => id).filter((id) => id % 2 === 0);
    await tx`
      update distribution.withdrawals set status = 'approved', processed_at = now() where id = any(${approved}::bigint[])`;
    await tx`
      insert into distribution.withdrawal_history (withdrawal_id, from_status, to_status, actor_type, actor_id)
      select id, 'pending', 'approved', 'admin', 1 from unnest(${approved}::bigint[]) as id`;
    return made.map(({ id }) => id);
  });
};

const distributors = 'distribution.distributors';
export const testData: TestData = {
  rows,
  auditCases: [
    [
      'distribution.moves',
      'a row of a move is missing',
      `delete from distribution.ledger where move = 'commission:1:settled' and account = 'available';
       ${withoutConstraints(distributors)}
       update distribution.distributors set available_amount = -350`,
      ['distribution.balances'],
    ],
    [
      'distribution.moves',
      'a move between two distributors',
      `insert into distribution.distributors (id, user_id, level, available_amount, debt_amount, total_earnings)
         values (9, 9, 1, 0, 0, 0);
       insert into distribution.ledger (move, distributor_id, account, amount, withdrawal_id) values
         ('x', 9, 'available', 5, 1), ('x', 1, 'debt', -5, 1), ('y', 9, 'available', -5, 1), ('y', 1, 'debt', 5, 1)`,
    ],
    [
      'distribution.balances',
      'a sum differs from the ledger',
      `update distribution.distributors set total_earnings = 400, available_amount = 100`,
    ],
    [
      'distribution.balances',
      'a sum is negative',
      `${withoutConstraints(distributors)}
       insert into distribution.ledger (move, distributor_id, account, amount, withdrawal_id)
         values ('x', 1, 'available', -5, 1), ('x', 1, 'debt', 5, 1);
       update distribution.distributors set available_amount = -5, debt_amount = -5`,
    ],
    [
      'distribution.settled',
      'a settled commission has no move',
      `update distribution.commissions set status = 'settled', settled_at = now(), cancelled_at = null where id = 2;
       update distribution.distributors set total_orders = 2`,
      ['distribution.orders'],
    ],
    ['distribution.settled', 'orders are counted wrongly', `update distribution.distributors set total_orders = 5`],
    [
      'distribution.settled',
      'a cancelled commission was not taken back',
      `update distribution.commissions set status = 'cancelled', cancelled_at = now() where id = 1`,
    ],
    ['distribution.commissions', 'of another buyer', `update distribution.commissions set buyer_id = 77 where id = 2`],
    ['distribution.commissions', 'a refund is not in it', `update distribution.refunds set amount = 700`],
    [
      'distribution.commissions',
      'not that of its rate',
      `update distribution.commissions set rate = 2000 where id = 1`,
    ],
    [
      'distribution.orders',
      'open, of a cancelled order',
      `update distribution.commissions set status = 'candidate', cancelled_at = null where id = 2`,
    ],
    [
      'distribution.orders',
      'pending, of an unpaid order',
      `insert into distribution.commissions (id, order_id, buyer_id, distributor_id, level, order_amount, rate, commission, status)
         overriding system value values (9, 1, 1, 1, 1, 2000, 1000, 200, 'pending');
       update distribution.distributors set user_id = 3`,
    ],
    [
      'distribution.withdrawals',
      'completed without a payment',
      `update distribution.withdrawals set status = 'completed', completed_at = now() where id = 2;
       insert into distribution.withdrawal_history (withdrawal_id, from_status, to_status, actor_type, actor_id)
         values (2, 'approved', 'completed', 'admin', 1)`,
    ],
    [
      'distribution.withdrawal_history',
      'a move is missing',
      `delete from distribution.withdrawal_history where withdrawal_id = 1 and to_status = 'approved'`,
    ],
    [
      'distribution.withdrawal_history',
      'its end is missing',
      `delete from distribution.withdrawal_history where withdrawal_id = 1 and to_status = 'completed'`,
    ],
  ],
  makers: {
    distributors: makeDistributors,
    // Staff approve these.
    '/admin/api/distribution/distributors': distributorsAs('pending'),
    '/admin/api/admin/api/distribution/distributors': distributorsAs('pending'),
    commissions: makeCommissions,
    withdrawals: makeWithdrawals,
    '/admin/api/distribution/orders': makeCommissions,
    '/admin/api/admin/api/distribution/orders': makeCommissions,
  },
};
