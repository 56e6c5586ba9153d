import { auditViolations } from '@tradepost/testing/audit-violations';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Coupons for a member level, with the memberships of the shop. */
let shop: Shop;
let staff: string;
beforeAll(async () => {
  shop = await openShop();
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
});
afterAll(() => shop?.close());

const send = async (method: string, path: string, token: string, body?: unknown) => {
  const answer = await shop.call(method, path, { token, body });
  expect(`${method} ${path}: ${answer.message}`).toBe(`${method} ${path}: success`);
  return answer.data;
};

test('only active members with exactly the level are sent a coupon of the level, see it as theirs and claim it', async () => {
  for (const level of [
    { name: 'Silver', growth_min: 0, discount_rate: 1 },
    { name: 'Gold', growth_min: 500_000, discount_rate: 0.9 },
  ])
    await send('POST', '/admin/api/vip/levels', staff, level);
  await send('POST', '/admin/api/vip/plans', staff, { name: 'Year', months: 12, price: 99 });
  const levels: { id: number; name: string }[] = (await send('GET', '/admin/api/vip/levels?size=200', staff)).list;
  const [plan] = (await send('GET', '/admin/api/vip/plans', staff)).list;
  const people = await Promise.all(Array.from({ length: 4 }, () => shop.shopper()));
  const [first, second, former] = people;
  for (const { token } of [first!, second!, former!])
    await send('POST', '/api/v1/vip/open', token, { plan_id: plan.id });
  await shop.database.sql.begin(async (tx) => {
    await tx`update vip.purchases set starts_at = starts_at - interval '2 years', ends_at = ends_at - interval '2 years' where user_id = ${former!.id}`;
    await tx`update vip.assets set vip_start_at = vip_start_at - interval '2 years', vip_end_at = vip_end_at - interval '2 years'
             where user_id = ${former!.id}`;
  });
  const couponOf = async (name: string, target_value: unknown) => {
    const coupon = { name, type: 3, discount: 1, per_limit: 2, target_type: 'vip_level', target_value };
    return (await send('POST', '/admin/api/marketing/coupons', staff, coupon)).id;
  };
  const idOf = (name: string) => levels.find((level) => level.name === name)!.id;
  // One client sends the level as a number, another one as a text.
  const silver = await couponOf('For silver', String(idOf('Silver')));
  const gold = await couponOf('For gold', idOf('Gold'));

  const sendTo = (id: number, count: number) =>
    send('POST', `/admin/api/marketing/coupons/${id}/send`, staff, { count });
  expect(await sendTo(silver, 1)).toEqual({ sent_count: 1 });
  expect(await sendTo(silver, 100)).toEqual({ sent_count: 2 });
  expect(await sendTo(silver, 100)).toEqual({ sent_count: 1 });
  expect(await sendTo(silver, 100)).toEqual({ sent_count: 0 });
  expect(await sendTo(gold, 100)).toEqual({ sent_count: 0 });
  const owned = await Promise.all(people.map(({ token }) => send('GET', '/api/v1/user/coupons', token)));
  expect(owned.map(({ length }) => length)).toEqual([2, 2, 0, 0]);
  const { list } = await send('GET', '/admin/api/marketing/coupons?keyword=silver', staff);
  expect(list).toMatchObject([{ id: silver, used_count: 4, claimed_count: 4 }]);

  const open = await couponOf('For silver to claim', idOf('Silver'));
  const offers = await Promise.all(people.map(({ token }) => send('GET', '/api/v1/coupons', token)));
  const canClaim = (offered: { id: number; can_claim: boolean }[]) => offered.find(({ id }) => id === open)!.can_claim;
  expect(offers.map(canClaim)).toEqual([true, true, false, false]);
  const claims = await Promise.all(
    people.map(({ token }) => shop.call('POST', `/api/v1/coupons/${open}/claim`, { token })),
  );
  expect(claims.map(({ code }) => code)).toEqual([0, 0, 30001, 30001]);
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
