import { audits } from '@tradepost/app';
import { auditPassed, runAudits } from '@tradepost/runtime';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

const clients = 32;
const roundsEach = 24;
const leastRuns = 3;
let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ only: 'api,worker' });
});
afterAll(() => shop?.close());

test('the audits pass at every moment while 32 clients order, pay and cancel and staff ship, and afterwards', async () => {
  const { call, database, server } = shop;
  const { sku_ids } = await insertProduct(database, { stocks: [200, 5_000, 5_000] });
  const rows = await database.sql<{ user_id: number; id: number }[]>`
    with made as (
      insert into identity.shoppers (nickname) select 'buyer ' || n from generate_series(1, ${clients}) as n returning id)
    insert into identity.addresses (user_id, name, phone, is_default) select id, 'Ann', '13800000000', true from made
    returning user_id, id`;
  const staff = await server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  let runs = 0;
  const done = { ordered: 0, paid: 0, cancelled: 0, shipped: 0, refused: 0 };

  const client = async ({ user_id, id }: { user_id: number; id: number }, n: number) => {
    const token = await server.tokens.issue({ role: 'user', id: user_id, perms: [] });
    // On a busy machine an audit takes longer than all rounds.
    for (let round = 0; round < roundsEach || (runs < leastRuns && round < 20 * roundsEach); round += 1) {
      const items = sku_ids.filter((_, i) => (n + round + i) % 2 === 0).map((sku_id) => ({ sku_id }));
      const order = await call('POST', '/api/v1/orders', { token, body: { address_id: id, items } });
      if (order.code !== 0) {
        done.refused += 1;
        continue;
      }
      done.ordered += 1;
      const act = async (action: 'pay' | 'cancel') =>
        (await call('POST', `/api/v1/orders/${order.data.id}/${action}`, { token })).code === 0;
      // Some clients send both at once: one of the two is refused.
      const [paid, cancelled] = await Promise.all([
        (n + round) % 3 !== 0 && act('pay'),
        (n + round) % 3 !== 1 && act('cancel'),
      ]);
      expect(paid && cancelled).toBe(false);
      if (cancelled) done.cancelled += 1;
      if (!paid) continue;
      done.paid += 1;
      if (round % 2) continue;
      const body = { ship_type: 'initial', company: 'SF', tracking_no: `SF${order.data.id}` };
      const sent = await call('PUT', `/admin/api/orders/${order.data.id}/ship`, { token: staff, body });
      if (sent.code === 0) done.shipped += 1;
    }
  };

  let busy = true;
  const working = Promise.all(rows.map(client)).finally(() => {
    busy = false;
  });
  while (busy) {
    const broken = (await runAudits(database.sql, audits)).filter((result) => !auditPassed(result));
    expect(broken).toEqual([]);
    runs += 1;
  }
  await working;
  expect(runs).toBeGreaterThanOrEqual(leastRuns);
  for (const action of ['ordered', 'paid', 'cancelled', 'shipped'] as const)
    expect({ ...done, enough: done[action] > 20 }).toMatchObject({ enough: true });
  expect((await runAudits(database.sql, audits)).filter((result) => !auditPassed(result))).toEqual([]);
});
