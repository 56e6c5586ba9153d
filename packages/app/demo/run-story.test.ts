import { auditViolations } from '@tradepost/testing/audit-violations';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runStory } from './run-story.ts';
import type { Step } from './story.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ seed: 'demo' });
});
afterAll(() => shop?.close());

const story = (onStep: (step: Step) => void = () => {}, url = shop.url) =>
  runStory({
    url,
    shopper: { username: 'demo', password: 'demo123456' },
    administrator: { username: 'admin', password: 'admin123' },
    keyword: 'mug',
    onStep,
  });

test('a new demo shop runs the whole story: purchase, tracks, review, return and partial refund, twice', async () => {
  const printed: string[] = [];
  const steps = await story(({ step }) => void printed.push(step));
  expect(printed).toEqual(steps.map(({ step }) => step));
  const results = Object.fromEntries(steps.map(({ step, result }) => [step, result]));
  expect(results).toMatchObject({
    'the shopper follows the parcel': expect.stringMatching(/^\d+ events, the last: ./),
    'the order is completed': 'Completed',
    'the goods arrive, stock comes back': 'received',
    'the shopper reads the case': expect.stringMatching(/^Completed: Applied, .*Refunded, Completed$/),
  });
  const [of, all] = /^(.+) of (.+)$/.exec(results['refund a part']!)!.slice(1).map(Number);
  expect(of).toBeGreaterThan(0);
  expect(of).toBeLessThan(all!);
  // Each line explains its price.
  expect(results['find a member price']).toMatch(/^.+, \d+\.\d\d: members of level Silver pay 90 % of the price$/);
  expect(results['price of line 1']).toMatch(
    /: 1 x \d+\.\d\d; \d+\.\d\d each in "Kitchen flash sale", which excludes other discounts; to pay \d+\.\d\d$/,
  );
  expect(results['price of line 2']).toMatch(
    /: 1 x \d+\.\d\d; Member Price "Silver" -\d+\.\d\d; Coupon "10 % off" -\d+\.\d\d; to pay \d+\.\d\d$/,
  );
  await story();
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});

test('a story that can not go on names the step that failed', async () => {
  await expect(
    runStory({
      url: shop.url,
      shopper: { username: 'demo', password: 'wrong' },
      administrator: { username: 'admin', password: 'admin123' },
      keyword: 'mug',
      onStep: () => {},
    }),
  ).rejects.toThrow(/POST \/api\/auth\/login: .*\(code 401\)\. Only a demo shop/);
});

test('a shop without the modules of promotions skips them, and names them', async () => {
  const small = await openShop({ seed: 'demo', modules: '-seckill,-vip' });
  try {
    const steps = await story(() => {}, small.url);
    expect(steps.find(({ step }) => step === 'buy with promotions')?.result).toBe(
      'skipped: the shop runs without seckill, vip',
    );
    expect(steps.at(-1)!.result).toMatch(/^Completed/);
  } finally {
    await small.close();
  }
});
