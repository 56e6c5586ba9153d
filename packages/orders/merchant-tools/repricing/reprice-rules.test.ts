import { AppError } from '@tradepost/core';
import type { Discount } from '@tradepost/pricing';
import { describe, expect, test } from 'vitest';
import { type PriceChange, repricedAmounts } from './reprice-rules.ts';

type Given = { price: number; qty: number; activity_product_id?: number; discounts?: Discount[] };
const order = (lines: Given[], discount_amount = 0, freight_amount = 0) => {
  const goods_amount = lines.reduce((sum, line) => sum + line.price * line.qty, 0);
  const total_amount = goods_amount - discount_amount + freight_amount;
  return {
    order: {
      ...{ id: 7, goods_amount, discount_amount, freight_amount, total_amount },
      agreed_discount: discount_amount,
    },
    lines: lines.map((line, index) => ({ id: index + 1, activity_product_id: 0, discounts: null, ...line })),
  };
};
const reprice = (given: ReturnType<typeof order>, change: PriceChange) =>
  repricedAmounts(given.order, given.lines, change);
/** Expects amounts and shares that add up. */
function expectExact(given: ReturnType<typeof order>, now: ReturnType<typeof reprice>) {
  const gross = now.lines.map((line, index) => line.price * given.lines[index]!.qty);
  const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
  expect(now.goods_amount).toBe(sum(gross));
  expect(now.total_amount).toBe(now.goods_amount - now.discount_amount + now.freight_amount);
  expect(sum(now.lines.map((line) => line.payable_amount))).toBe(now.goods_amount - now.discount_amount);
  expect(now.discount_amount).toBeGreaterThanOrEqual(0);
  expect(now.discount_amount).toBeLessThanOrEqual(now.goods_amount);
  now.lines.forEach((line, index) => {
    expect(line.price).toBeGreaterThanOrEqual(0);
    expect(line.payable_amount).toBeLessThanOrEqual(gross[index]!);
  });
}

describe('new unit prices', () => {
  test('other lines keep their price, and a line may be free', () => {
    const given = order([
      { price: 1290, qty: 2 },
      { price: 500, qty: 1 },
    ]);
    const now = reprice(given, { items: [{ item_id: 2, price: 0 }] });
    expect(now).toMatchObject({ goods_amount: 2580, discount_amount: 0, total_amount: 2580 });
    expect(now.lines).toEqual([
      { id: 1, price: 1290, payable_amount: 2580 },
      { id: 2, price: 0, payable_amount: 0 },
    ]);
  });

  test('the discount stays and is allocated again', () => {
    const given = order(
      [
        { price: 1000, qty: 1 },
        { price: 1000, qty: 1 },
      ],
      301,
    );
    const now = reprice(given, { items: [{ item_id: 1, price: 3000 }] });
    expect(now).toMatchObject({ goods_amount: 4000, discount_amount: 301, total_amount: 3699 });
    expectExact(given, now);
  });

  test.each([
    ['a total of 0', { items: [{ item_id: 1, price: 0 }] }, 'price_too_low'],
    ['a price below the discount', { items: [{ item_id: 1, price: 300 }] }, 'price_too_low'],
    ['a line of another order', { items: [{ item_id: 99, price: 1 }] }, 'foreign_items'],
    [
      'a line twice',
      {
        items: [
          { item_id: 1, price: 1 },
          { item_id: 1, price: 2 },
        ],
      },
      'repriced_twice',
    ],
    ['a total above the maximum', { items: [{ item_id: 1, price: 99_999_999_99 }] }, 'amount_too_large'],
  ] as [string, PriceChange, string][])('%s is refused', (_what, change, name) => {
    const given = order([{ price: 1000, qty: 2 }], 600);
    expect(() => reprice(given, change)).toThrow(AppError);
    try {
      reprice(given, change);
    } catch (error) {
      expect((error as AppError).refusalName).toBe(name);
    }
  });
});

describe('the discount of a line', () => {
  const coupon = (amount: number) => [{ type: 'coupon', name: 'Ten off', amount }];
  // A flash-sale line of 9.90, and two ordinary lines of 30.00 and 10.00 with a coupon of 8.00.
  const given = order(
    [
      { price: 990, qty: 1, activity_product_id: 7 },
      { price: 3000, qty: 1, discounts: coupon(600) },
      { price: 1000, qty: 1, discounts: coupon(200) },
    ],
    800,
  );
  const payable = (change: PriceChange) => reprice(given, change).lines.map((line) => line.payable_amount);

  test('stays with the line, so a new price of one line changes no refund of another', () => {
    expect(payable({ items: [{ item_id: 2, price: 2000 }] })).toEqual([990, 1400, 800]);
    expect(payable({ items: [{ item_id: 1, price: 500 }] })).toEqual([500, 2400, 800]);
  });

  test('that the line cannot bear goes to ordinary lines first, then to lines of activities', () => {
    expect(payable({ items: [{ item_id: 2, price: 100 }] })).toEqual([990, 0, 300]);
    const items = [
      { item_id: 2, price: 100 },
      { item_id: 3, price: 150 },
    ];
    expect(payable({ items })).toEqual([440, 0, 0]);
  });

  test('has the cents of a new total, which unit prices cannot express', () => {
    const pieces = order([{ price: 400, qty: 3, discounts: coupon(100) }], 100);
    const now = reprice(pieces, { amount: -101 });
    expect(now).toMatchObject({ goods_amount: 1101, discount_amount: 102, total_amount: 999 });
    expect(now.lines[0]!.payable_amount).toBe(999);
  });
});

describe('a change of the total', () => {
  test.each([
    [10_000, { percent: -10 }, 9_000],
    [1_050, { percent: -15 }, 893],
    [1_000, { percent: 33.33 }, 1_333],
    [1, { percent: 0 }, 1],
    [2_580, { amount: -580 }, 2_000],
    [2_580, { amount: 1 }, 2_581],
  ] as [number, PriceChange, number][])('%d with %o is %d to the cent', (price, change, total) => {
    const given = order([{ price, qty: 1 }]);
    expect(reprice(given, change).total_amount).toBe(total);
  });

  test('cents that unit prices cannot express are a discount: three pieces for 10.00', () => {
    const given = order([{ price: 400, qty: 3 }]);
    const now = reprice(given, { amount: -200 });
    expect(now).toMatchObject({ goods_amount: 1002, discount_amount: 2, total_amount: 1000 });
    expect(now.lines).toEqual([{ id: 1, price: 334, payable_amount: 1000 }]);
  });

  test('a total of 0 or less is refused', () => {
    for (const change of [{ percent: -100 }, { percent: -250 }, { amount: -1200 }, { amount: -5000 }])
      expect(() => reprice(order([{ price: 400, qty: 3 }]), change)).toThrow('at least 0.01');
  });
});

test('five thousand random orders: amounts and shares always add up', () => {
  let seed = 12345;
  const random = (n: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % n;
  };
  for (let round = 0; round < 5_000; round += 1) {
    const lines = Array.from({ length: 1 + random(6) }, () => ({ price: random(50_000), qty: 1 + random(9) }));
    const goods = lines.reduce((sum, line) => sum + line.price * line.qty, 0);
    const given = order(lines, random(goods + 1), round % 3 === 0 ? random(2_000) : 0);
    const kind = random(3);
    const change: PriceChange =
      kind === 0
        ? { items: given.lines.filter(() => random(2)).map((line) => ({ item_id: line.id, price: random(60_000) })) }
        : kind === 1
          ? { percent: random(40_000) / 100 - 120 }
          : { amount: random(60_000) - 30_000 };
    try {
      expectExact(given, reprice(given, change));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      expect(error.refusalName).toBe('price_too_low');
    }
  }
});

test('rounding cents do not accumulate in the discount', () => {
  let given = order([{ price: 100, qty: 9_999 }]);
  for (let n = 0; n < 11; n++) {
    const now = reprice(given, { amount: 1 });
    expect(now.total_amount).toBe(999_900 + n + 1);
    const { goods_amount, discount_amount, total_amount } = now;
    given = {
      order: { ...given.order, goods_amount, discount_amount, total_amount },
      lines: given.lines.map((line, index) => ({ ...line, price: now.lines[index]!.price })),
    };
    expect(given.lines[0]!.price).toBe(101);
  }
  const back = reprice(given, { items: [{ item_id: 1, price: 100 }] });
  expect(back).toMatchObject({ goods_amount: 999_900, discount_amount: 0, total_amount: 999_900 });
});
