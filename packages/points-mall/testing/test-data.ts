import { pointsType, writePoints } from '@tradepost/points';
import type { Maker } from '@tradepost/testing/routes/makers';
import { type TestData, withoutConstraints } from '@tradepost/testing/test-data';

/**
 * Goods with a stock of 5, 3 of them exchanged, and a virtual product without a limit. A shopper has an open, a
 * completed and a cancelled exchange.
 */
const rows = `
  insert into points_mall.products (id, title, type, points_price, stock_limit, sold_count, status, limit_per_user, limit_per_day,
      virtual_content, created_at, updated_at) overriding system value
    values (1, 'Mug', 'physical', 100, 5, 3, 1, 3, 2, '', now(), now()),
           (2, 'Pictures', 'virtual', 20, null, 1, 1, 0, 0, 'CODE', now(), now());
  insert into points_mall.exchanges (id, exchange_no, user_id, product_id, product_title, product_type, product_cover, qty,
      points_cost, status, virtual_content, remark, day, limit_per_user, limit_per_day, created_at, completed_at, canceled_at)
    overriding system value
    values (1, 'EX1', 11, 1, 'Mug', 'physical', '', 2, 200, 'pending_ship', '', '', '2026-03-01', 3, 2, now(), null, null),
           (2, 'EX2', 11, 1, 'Mug', 'physical', '', 2, 200, 'canceled', '', 'Broken', '2026-03-02', 4, 2, now(), null, now()),
           (3, 'EX3', 11, 1, 'Mug', 'physical', '', 1, 100, 'completed', '', '', '2026-03-02', 3, 2, now(), now(), null),
           (4, 'EX4', 12, 2, 'Pictures', 'virtual', '', 1, 20, 'completed', 'CODE', '', '2026-03-02', 0, 0, now(), now(), null);
  insert into points.logs (user_id, type, points, cause, created_at)
    values (11, 5, 1000, 'mall:1', now()), (12, 5, 1000, 'mall:2', now());
  insert into points.logs (user_id, type, points, related_id, cause, created_at)
    select user_id, 3, -points_cost, id, 'points_mall:' || id, now() from points_mall.exchanges
    union all select user_id, 3, points_cost, id, 'points_mall:' || id || ':canceled', now() from points_mall.exchanges
      where status = 'canceled';
  insert into points.accounts (user_id, balance) values (11, 700), (12, 980)
    on conflict (user_id) do update set balance = accounts.balance + excluded.balance;`;

/** Products with enough points for the owner of the objects. The last one is on the shelf. */
const makeProducts: Maker = async ({ send, staff, sql, owner, nextNumber, repeat }, count) => {
  const key = `mall:maker:${nextNumber()}`;
  const entry = { user_id: owner.id, points: 100_000, type: pointsType.adjustment, related_id: 0, remark: '', key };
  await sql.begin((tx) => writePoints(tx, [entry], new Date()));
  return repeat(count, async (n) => {
    const body = { title: `Mug ${key} ${n}`, type: 'physical', points_price: 1 };
    return (await send('POST', '/admin/api/points/products', staff, body)).id;
  });
};

/** Open exchanges of the owner. */
const makeExchanges: Maker = async ({ make, send, owner, repeat }, count) => {
  const [product] = await make('/admin/api/points/products', 1);
  return repeat(
    count,
    async () => (await send('POST', `/api/v1/points/products/${product}/exchange`, owner.token, {})).id,
  );
};

export const testData: TestData = {
  rows,
  auditCases: [
    ['points_mall.sold_count', 'too low', `update points_mall.products set sold_count = 2 where id = 1`],
    ['points_mall.sold_count', 'without exchanges', `update points_mall.products set sold_count = 2 where id = 2`],
    [
      'points_mall.stock',
      'more exchanges than stock',
      `${withoutConstraints('points_mall.products')} update points_mall.products set stock_limit = 2 where id = 1`,
    ],
    [
      'points_mall.points',
      'another number than in the ledger',
      `update points_mall.exchanges set points_cost = 150 where id = 3`,
    ],
    ['points_mall.points', 'of another shopper', `update points_mall.exchanges set user_id = 11 where id = 4`],
    [
      'points_mall.points',
      'a cancelled exchange whose points were not returned',
      `update points_mall.exchanges set status = 'canceled', canceled_at = now() where id = 1;
       update points_mall.products set sold_count = 1 where id = 1`,
    ],
    [
      'points_mall.points',
      'points returned for an exchange that is not cancelled',
      `update points_mall.exchanges set status = 'completed', canceled_at = null, completed_at = now() where id = 2;
       update points_mall.products set sold_count = 5 where id = 1;
       update points_mall.exchanges set limit_per_user = 9, limit_per_day = 9`,
    ],
    [
      'points_mall.points',
      'points taken for an exchange that does not exist',
      `insert into points.logs (user_id, type, points, related_id, cause, created_at) values (12, 3, -20, 9, 'points_mall:9', now());
       update points.accounts set balance = balance - 20 where user_id = 12`,
    ],
    [
      'points_mall.points',
      'points taken twice for an exchange',
      `insert into points.logs (user_id, type, points, related_id, cause, created_at) values (12, 3, -20, 4, 'again', now());
       update points.accounts set balance = balance - 20 where user_id = 12`,
    ],
    ['points_mall.limits', 'of a shopper', `update points_mall.exchanges set limit_per_user = 2 where id = 3`],
    ['points_mall.limits', 'of a day', `update points_mall.exchanges set day = '2026-03-01' where id = 3`],
    [
      'points_mall.kinds',
      'a coupon exchange without its coupon',
      `update points_mall.exchanges set product_type = 'coupon' where id = 4`,
    ],
    [
      'points_mall.kinds',
      'a virtual product that waits',
      `update points_mall.exchanges set status = 'pending_ship', completed_at = null where id = 4`,
    ],
  ],
  makers: {
    '/admin/api/points/products': makeProducts,
    '/api/v1/points/products': makeProducts,
    '/admin/api/points/exchanges': makeExchanges,
    '/api/v1/points/exchanges': makeExchanges,
  },
};
