import { auditViolations } from '@tradepost/testing/audit-violations';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { maxLedGroups } from './limits.ts';
import { type Buyer, type Offered, openGroupShop } from './testing/group-shop.ts';

/** Many shoppers act on one group at once. The counts stay exact, and no order is both shipped and refunded. */
let shop: Shop;
let groups: Awaited<ReturnType<typeof openGroupShop>>;
let offer: Offered;
let buyers: Buyer[];
const group_size = 5;
beforeAll(async () => {
  shop = await openShop();
  groups = await openGroupShop(shop, { skus: 1, group_size });
  offer = groups.offers[0]!;
  buyers = await Promise.all(Array.from({ length: 16 }, () => shop.shopper()));
});
afterAll(async () => {
  if (!shop) return;
  await dispatchEvents(shop);
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  await shop.close();
});

const rowsOf = (groupId: number) => shop.database.sql<{ user_id: number; order_id: number | null }[]>`
  select user_id, order_id from group_buy.members where group_id = ${groupId}`;

test('many joins at once fill a group exactly, and no shopper or order is there twice', async () => {
  const [leader, ...others] = buyers as [Buyer, ...Buyer[]];
  const group = await groups.open(leader, offer);
  const rival = await groups.open(leader, offer);
  const orders = await Promise.all(others.map((buyer) => groups.order(buyer, offer)));
  // Each shopper sends the join twice, and tries another group with the same order.
  const answers = await Promise.all(
    others.flatMap((buyer, n) => [
      groups.tryJoin(buyer, group.id, orders[n]!),
      groups.tryJoin(buyer, group.id, orders[n]!),
      ...(n < 2 ? [groups.tryJoin(buyer, rival.id, orders[n]!)] : []),
    ]),
  );
  const members = await rowsOf(group.id);
  expect(members).toHaveLength(group_size);
  expect(new Set(members.map(({ user_id }) => user_id)).size).toBe(group_size);
  const all = [...members, ...(await rowsOf(rival.id))].flatMap(({ order_id }) => order_id ?? []);
  expect(new Set(all).size).toBe(all.length);
  expect(answers.filter(({ code }) => code === 0)).toHaveLength(all.length);
  expect(await groups.read(leader, group.id)).toMatchObject({ status: 'success', joined_count: group_size });
  const events = await shop.database.sql`
    select from runtime.outbox where name = 'group_buy.succeeded' and subject = ${`group_buy:${group.id}`}`;
  expect(events).toHaveLength(group_size);
});

test('joins, cancellations, shipments and the expiry at once leave every order in one state', async () => {
  const [leader, ...others] = buyers as [Buyer, ...Buyer[]];
  const group = await groups.open(leader, offer);
  const early = await Promise.all(others.slice(0, 2).map((buyer) => groups.join(buyer, group.id, offer)));
  const late = others.slice(2);
  const orders = await Promise.all(late.map((buyer, n) => groups.order(buyer, offer, n % 2 === 0)));
  // The group expires while the shoppers act.
  await shop.database.sql`
    update group_buy.groups set expire_at = now() + interval '40 milliseconds' where id = ${group.id}`;
  await Promise.all([
    ...[0, 20, 40, 60, 80].map(async (ms) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      await groups.sweep();
    }),
    ...late.map((buyer, n) => groups.tryJoin(buyer, group.id, orders[n]!)),
    ...early.map((id) => groups.ship(id)),
    ...late.flatMap((buyer, n) =>
      n % 2 === 1 ? [shop.call('POST', `/api/v1/orders/${orders[n]}/cancel`, { token: buyer.token })] : [],
    ),
  ]);
  await dispatchEvents(shop);
  await groups.sweep();
  const { status } = await groups.read(leader, group.id);
  const states = await Promise.all(early.map(groups.statusOf));
  if (status === 'success') for (const state of states) expect([2, 3]).toContain(state);
  else expect([status, ...states]).toEqual(['failed', 6, 6]);
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});

test('orders of one leader at once are attached to one waiting group each', async () => {
  const leader = await shop.shopper();
  const led = [await groups.open(leader, offer), await groups.open(leader, offer)];
  const orders = await Promise.all([1, 2, 3, 4].map(() => groups.order(leader, offer)));
  const attached = (await Promise.all(led.map(({ id }) => rowsOf(id)))).flat().map(({ order_id }) => order_id!);
  expect(new Set(attached).size).toBe(2);
  for (const order of attached) expect(orders).toContain(order);
});

test('a shopper leads a bounded number of open groups', async () => {
  const leader = await shop.shopper();
  const { id } = await groups.open(leader, offer);
  await shop.database.sql`
    with more as (
      insert into group_buy.groups (activity_id, activity_product_id, activity_name, product_id, sku_id, group_price, leader_id,
        group_size, expire_at, created_at)
      select activity_id, activity_product_id, activity_name, product_id, sku_id, group_price, leader_id, group_size, expire_at, created_at
      from group_buy.groups cross join generate_series(1, ${maxLedGroups - 2}::int) where id = ${id} returning id, leader_id
    )
    insert into group_buy.members (group_id, user_id, is_leader, created_at) select id, leader_id, true, now() from more`;
  await groups.open(leader, offer);
  const body = { activity_id: groups.activity_id, product_id: offer.product_id, sku_id: offer.sku_id };
  const more = await shop.call('POST', '/api/v1/group-buy/orders', { token: leader.token, body });
  expect([more.code, more.message]).toEqual([1, `You lead ${maxLedGroups} open groups already`]);
});
