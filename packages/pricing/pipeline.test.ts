import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openPricePipeline } from './pipeline.ts';
import type { PlacedOrder, PriceRequest, PriceStep } from './price-step.ts';

const line = (price: number, qty = 1, sku_id = 1) => ({
  ...{ sku_id, product_id: sku_id, activity_product_id: 0, qty, price },
});
const step = (name: string, priority: number, apply: PriceStep['apply'], more: Partial<PriceStep> = {}): PriceStep => ({
  ...{ name, priority, apply, statements: { load: 1, write: 0, release: 0 } },
  load: async () => null,
  ...more,
});
const now = new Date();
const price = (steps: PriceStep[], request: PriceRequest) => openPricePipeline(steps).price(request, new Map(), now);
const order = (...lines: PriceRequest['lines']): PriceRequest => ({ user_id: 1, lines, choices: {} });
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

describe('the price of an order', () => {
  test('without steps is the price of the goods', () => {
    const { uses, ...amounts } = price([], order(line(1290, 2), line(5)));
    expect(uses.size).toBe(0);
    const plain = { discounts: [], activity: null };
    expect(amounts).toEqual({
      ...{ goods_amount: 2585, discount_amount: 0, freight_amount: 0, total_amount: 2585, discounts: [] },
      lines: [
        { price: 1290, payable_amount: 2580, ...plain },
        { price: 5, payable_amount: 5, ...plain },
      ],
    });
  });

  test('steps run by priority, in any order of the list', () => {
    const ran: string[] = [];
    const note = (name: string, priority: number) =>
      step(name, priority, () => {
        ran.push(name);
      });
    price([note('points', 40), note('activity', 10), note('coupon', 30), note('member', 15)], order(line(100)));
    expect(ran).toEqual(['activity', 'member', 'coupon', 'points']);
  });

  test('a line with an activity price has this price alone, and is not in the base of a discount', () => {
    const activity = { activity_id: 7, activity_type: 'seckill', activity_title: 'Sale' };
    const bases: number[] = [];
    const steps = [
      step('activity', 10, (pricing) => pricing.setActivity(0, 900, activity)),
      step('coupon', 30, (pricing) => {
        bases.push(pricing.base());
        expect(pricing.ordinaryLines()).toEqual([1]);
        pricing.discount({ type: 'coupon', name: 'Ten off' }, 1000);
      }),
    ];
    const priced = price(steps, order(line(1290, 2), line(600, 1, 2)));
    expect(bases).toEqual([600]);
    expect(priced).toMatchObject({ goods_amount: 2400, discount_amount: 600, total_amount: 1800 });
    const share = { type: 'coupon', name: 'Ten off', amount: 600 };
    expect(priced.lines).toEqual([
      { price: 900, payable_amount: 1800, discounts: [], activity },
      { price: 600, payable_amount: 0, discounts: [share], activity: null },
    ]);
    expect(priced.discounts).toEqual([share]);
  });

  test('shares of any discounts add up, no amount is below zero, and the order of the lines does not matter', () => {
    const amounts = fc.integer({ min: 0, max: 1_000_000 });
    const lines = fc.array(fc.record({ price: amounts, qty: fc.integer({ min: 1, max: 9_999 }) }), {
      ...{ minLength: 1, maxLength: 20 },
    });
    const takes = fc.array(fc.record({ amount: fc.integer({ min: 0, max: 10 ** 11 }), mask: fc.nat() }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(lines, takes, (goods, discounts) => {
        const steps = discounts.map(({ amount, mask }, n) =>
          step(`step ${n}`, n, (pricing) => {
            const of = pricing.request.lines.flatMap(({ sku_id }, index) =>
              (mask >> (sku_id % 31)) & 1 ? [index] : [],
            );
            const before = sum(of.map((index) => pricing.payable(index)));
            expect(pricing.discount({ type: 'coupon', name: 'n' }, amount, of)).toBe(Math.min(amount, before));
          }),
        );
        const all = goods.map(({ price: unit, qty }, sku) => line(unit, qty, sku));
        const priced = price(steps, order(...all));
        const paid = priced.lines.map((one) => one.payable_amount);
        expect(paid.every((amount) => amount >= 0)).toBe(true);
        expect(sum(paid)).toBe(priced.total_amount);
        expect(sum(priced.discounts.map(({ amount }) => amount))).toBe(priced.discount_amount);
        expect(priced.goods_amount - priced.discount_amount).toBe(priced.total_amount);
        for (const [index, one] of priced.lines.entries())
          expect(sum(one.discounts.map(({ amount }) => amount))).toBe(
            goods[index]!.price * goods[index]!.qty - one.payable_amount,
          );
        const reversed = price(steps, order(...all.toReversed()));
        expect(reversed.lines.toReversed()).toEqual(priced.lines);
        expect(reversed.discounts).toEqual(priced.discounts);
      }),
      { numRuns: 300 },
    );
  });

  test('amounts of single lines are one discount, at most what each line costs, and never on an activity line', () => {
    const activity = { activity_id: 7, activity_type: 'seckill', activity_title: 'Sale' };
    const applied: number[] = [];
    const rule = { type: 'member', name: 'Gold' } as const;
    const steps = [
      step('activity', 10, (pricing) => pricing.setActivity(2, 50, activity)),
      step('member', 15, (pricing) => {
        const amounts = [300, 7, 9].map((amount, line) => ({ line, amount }));
        applied.push(pricing.discountLines(rule, amounts), pricing.discountLines(rule, []));
      }),
    ];
    const priced = price(steps, order(line(100, 2, 1), line(600, 1, 2), line(80, 1, 3)));
    expect(applied).toEqual([207, 0]);
    expect(priced).toMatchObject({ discount_amount: 207, discounts: [{ ...rule, amount: 207 }] });
    expect(priced.lines.map((one) => [one.payable_amount, one.discounts])).toEqual([
      [0, [{ ...rule, amount: 200 }]],
      [593, [{ ...rule, amount: 7 }]],
      [50, []],
    ]);
    const twice = step('member', 15, (pricing) => {
      pricing.discountLines(
        rule,
        [0, 0].map((index) => ({ line: index, amount: 1 })),
      );
    });
    expect(() => price([twice], order(line(100)))).toThrow('twice');
  });

  test('an invalid amount of a step is an error', () => {
    const activity = { activity_id: 1, activity_type: 'seckill', activity_title: '' };
    for (const amount of [NaN, -1, 0.5, 2 ** 60]) {
      const discount = step('a', 1, (p) => void p.discount({ type: 'coupon', name: 'n' }, amount));
      expect(() => price([discount], order(line(1)))).toThrow();
      const ofLines = step('a', 1, (p) => void p.discountLines({ type: 'member', name: 'n' }, [{ line: 0, amount }]));
      expect(() => price([ofLines], order(line(1)))).toThrow();
      expect(() => price([step('a', 1, (p) => p.setActivity(0, amount, activity))], order(line(1)))).toThrow();
    }
  });
});

describe('the pipeline', () => {
  test('steps have distinct names and fields, and their numbers of statements add up', () => {
    const step1 = step('a', 1, () => {}, { choices: { coupon_ids: z.number().optional() } });
    expect(() => openPricePipeline([step1, step('a', 2, () => {})])).toThrow('same name');
    expect(() => openPricePipeline([step1, { ...step1, name: 'b' }])).toThrow('same field');
    const step2 = step('b', 2, () => {}, { statements: { load: 2, write: 3, release: 4 } });
    const { statements, choices } = openPricePipeline([step1, step2]);
    expect(statements).toEqual({ quote: 3, place: 6, release: 4 });
    expect(Object.keys(choices)).toEqual(['coupon_ids']);
  });

  test('an accepted order takes its use from the facts, and only steps with a use write and release', () => {
    const facts = { left: 3 };
    const written: unknown[] = [];
    const limited = step('limited', 10, ({ request }, { left }) => (left > 0 ? request.lines[0]!.qty : undefined), {
      take(use, { left }) {
        facts.left = left - use;
      },
      write: (_tx, uses) => uses.map(({ order: { id }, use }) => written.push([id, use]) as never),
      release: (_tx, orders) => orders.map(({ id }) => written.push(id) as never),
    });
    const idle = step('idle', 20, () => undefined, {
      write: () => [written.push('idle') as never],
      release: () => [written.push('idle') as never],
    });
    const pipeline = openPricePipeline([idle, limited]);
    const of = new Map([['limited', facts]]);
    const request = order(line(5, 3));
    const first = pipeline.price(request, of, now);
    expect(facts.left).toBe(3);
    pipeline.take(first, of);
    const second = pipeline.price(request, of, now);
    expect([...second.uses]).toEqual([]);
    const placed = (id: number): PlacedOrder => ({ id, order_no: String(id), user_id: 1 });
    const orders = [
      { order: placed(1), priced: first },
      { order: placed(2), priced: second },
    ];
    pipeline.write(null as never, orders, now);
    pipeline.release(null as never, [{ ...placed(1), price_steps: ['limited'] }], now);
    expect(written).toEqual([[1, 3], 1]);
  });
});
