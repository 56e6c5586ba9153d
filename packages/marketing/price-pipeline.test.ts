import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openPricePipeline, type PriceRequest, type PriceStep } from './price-pipeline.ts';

const line = (price: number, qty = 1, sku_id = 1) => ({
  sku_id,
  product_id: sku_id,
  activity_product_id: 0,
  qty,
  price,
});
const step = (name: string, priority: number, apply: PriceStep['apply']): PriceStep => ({
  ...{ name, priority, apply },
  load: async () => null,
});
const quote = (steps: PriceStep[], request: PriceRequest) => openPricePipeline(steps).quote(request, new Map());
const order = (...lines: PriceRequest['lines']): PriceRequest => ({ user_id: 1, lines });

describe('the price of an order', () => {
  test('without steps is the price of the goods', () => {
    const { applied, ...amounts } = quote([], order(line(1290, 2), line(5)));
    expect(applied).toEqual([]);
    expect(amounts).toEqual({
      ...{ goods_amount: 2585, discount_amount: 0, freight_amount: 0, total_amount: 2585 },
      lines: [
        { price: 1290, payable_amount: 2580 },
        { price: 5, payable_amount: 5 },
      ],
    });
  });

  test('steps run by priority, in any order of the list, and a step can skip the others', () => {
    const ran: string[] = [];
    const note = (name: string, priority: number, stop = false) =>
      step(name, priority, (pricing) => {
        ran.push(name);
        if (stop) pricing.stop();
      });
    quote([note('points', 40), note('activity', 10), note('coupon', 30, true), note('member', 15)], order(line(100)));
    expect(ran).toEqual(['activity', 'member', 'coupon']);
    expect(() => openPricePipeline([note('a', 1), note('a', 2)])).toThrow('same name');
  });

  test('an activity price replaces the unit price, and a discount is subtracted from it', () => {
    const steps = [
      step('activity', 10, (pricing) => pricing.reprice(0, 900)),
      step('coupon', 30, (pricing) => {
        pricing.discount({ type: 'coupon', name: 'Ten off' }, 1000);
      }),
    ];
    const priced = quote(steps, order(line(1290, 2), line(600)));
    expect(priced).toMatchObject({ goods_amount: 2400, discount_amount: 1000, total_amount: 1400 });
    expect(priced.lines).toEqual([
      { price: 900, payable_amount: 1050 },
      { price: 600, payable_amount: 350 },
    ]);
    expect(priced.applied).toEqual([{ type: 'coupon', name: 'Ten off', discount: 1000 }]);
  });

  test('shares of any discounts add up, and no amount is below zero', () => {
    const amounts = fc.integer({ min: 0, max: 1_000_000 });
    const lines = fc.array(fc.record({ price: amounts, qty: fc.integer({ min: 1, max: 9_999 }) }), {
      minLength: 1,
      maxLength: 20,
    });
    const takes = fc.array(fc.record({ amount: fc.integer({ min: 0, max: 10 ** 11 }), mask: fc.nat() }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(lines, takes, (goods, discounts) => {
        const steps = discounts.map(({ amount, mask }, n) =>
          step(`step ${n}`, n, (pricing) => {
            const of = goods.map((_, index) => index).filter((index) => (mask >> (index % 31)) & 1);
            const before = of.map((index) => pricing.payable(index)).reduce((a, b) => a + b, 0);
            expect(pricing.discount({ type: 't', name: 'n' }, amount, of)).toBe(Math.min(amount, before));
          }),
        );
        const priced = quote(steps, order(...goods.map(({ price, qty }) => line(price, qty))));
        const paid = priced.lines.map((one) => one.payable_amount);
        expect(paid.every((amount) => amount >= 0)).toBe(true);
        expect(paid.reduce((a, b) => a + b, 0)).toBe(priced.total_amount);
        expect(priced.applied.reduce((sum, rule) => sum + rule.discount, 0)).toBe(priced.discount_amount);
        expect(priced.goods_amount - priced.discount_amount).toBe(priced.total_amount);
      }),
      { numRuns: 300 },
    );
  });

  test('an invalid amount of a step is an error', () => {
    const wrong = [NaN, -1, 0.5, 2 ** 60];
    for (const amount of wrong) {
      expect(() =>
        quote([step('a', 1, (p) => void p.discount({ type: 't', name: 'n' }, amount))], order(line(1))),
      ).toThrow();
      expect(() => quote([step('a', 1, (p) => p.reprice(0, amount))], order(line(1)))).toThrow();
    }
  });
});
