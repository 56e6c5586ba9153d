import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CouponFields } from './coupons/coupon.ts';
import { insertCoupons } from './coupons/coupon-store.ts';
import { claimCoupons } from './issuing/claim-coupons.ts';
import { sendCoupon } from './issuing/send-coupon.ts';
import { expireCoupons } from './pricing/expire-coupons.ts';
import { selectChosen } from './pricing/use-store.ts';
import { selectClaimable, selectUserCoupons } from './storefront/user-coupon-store.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database?.drop());

const noLevels = () => undefined;
const paging = { page: 1, size: 10, offset: 0 };
const codeOf = (outcome: unknown) => (outcome as { code?: number }).code ?? 0;

test('start_at and end_at are the first and the last valid second: lists, claims, sends, orders and the job agree', async () => {
  const { sql } = database;
  const start_at = new Date('2026-03-01T00:00:00Z');
  const end_at = new Date('2026-03-31T15:59:59Z');
  const fields: CouponFields = {
    ...{ name: 'March', type: 3, min_amount: 0, discount: 100, description: '', stack_rule: 'exclusive' },
    ...{ target_type: 'all', target_value: '', total_count: 0, per_limit: 0, status: 1, start_at, end_at },
  };
  const coupon = await sql.begin(async (tx) => (await insertCoupons(tx, [fields], start_at))[0]!);
  const people = await sql<{ id: number }[]>`
    insert into identity.shoppers (nickname) select 'Ann' from generate_series(1, 2) returning id`;
  const [ann, bo] = people.map(({ id }) => id) as [number, number];
  const claim = async (user_id: number, now: Date) => {
    const runtime = { sql, now: () => now };
    const [outcome] = await claimCoupons({ runtime, levels: noLevels }, [{ user_id, coupon_id: coupon.id }]);
    return codeOf(outcome);
  };
  const offered = async (now: Date) => (await selectClaimable(sql, { userId: bo, now }, paging)).length;

  const early = new Date(start_at.getTime() - 1);
  expect([await claim(ann, early), await offered(early)]).toEqual([30001, 0]);
  expect([await claim(ann, start_at), await offered(start_at)]).toEqual([0, 1]);

  const [mine] = await selectUserCoupons(sql, { userId: ann, status: null, now: start_at }, paging);
  for (const [ms, ended] of [
    [999, false],
    [1_000, true],
  ] as const) {
    const now = new Date(end_at.getTime() + ms);
    const status = ended ? 3 : 1;
    const listed = await selectUserCoupons(sql, { userId: ann, status, now }, paging);
    expect(listed.map((row) => row.status).every((each) => each === status)).toBe(true);
    expect(listed.some(({ id }) => id === mine!.id)).toBe(true);
    const [chosen] = await selectChosen(sql, [mine!.id], { lock: false, now });
    expect(chosen!.status).toBe(status);
    expect(await offered(now)).toBe(ended ? 0 : 1);
    expect(await claim(bo, now)).toBe(ended ? 30001 : 0);
    const sent = sql.begin((tx) => sendCoupon(tx, { id: coupon.id, count: 1 }, { now, levels: noLevels }));
    expect(await sent.catch(codeOf)).toBe(ended ? 500 : 1);
    const expired = await expireCoupons({ sql, now: () => now }, AbortSignal.timeout(10_000));
    // That of the first claim, that of the second one, and the one that was sent.
    expect(expired).toBe(ended ? 3 : 0);
  }
});
