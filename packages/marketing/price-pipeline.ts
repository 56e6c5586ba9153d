import { allocate, type Minor } from '@tradepost/core';
import type { Transaction } from '@tradepost/postgres';

/** A line before pricing. `price` is the unit price of the SKU. */
type PriceLine = {
  readonly sku_id: number;
  readonly product_id: number;
  readonly activity_product_id: number;
  readonly qty: number;
  readonly price: Minor;
};
export type PriceRequest = { readonly user_id: number; readonly lines: readonly PriceLine[] };

/** The shoppers and SKUs of a batch of orders. A step reads its facts for them, before the lines of each order are chosen. */
type PriceScope = {
  readonly userIds: readonly number[];
  readonly skuIds: readonly number[];
  readonly now: Date;
};

type AppliedRule = { type: string; name: string; discount: Minor };

type Quote = {
  goods_amount: Minor;
  discount_amount: Minor;
  freight_amount: Minor;
  total_amount: Minor;
  /** In the order of the request. `payable_amount` is what the buyer pays for the line, after its share of all discounts. */
  lines: { price: Minor; payable_amount: Minor }[];
  applied: AppliedRule[];
};

/** The operations of a step on one order. Amounts are in minor units. No amount falls below zero. */
type Pricing = {
  readonly request: PriceRequest;
  /** The current unit price of a line. Lines are numbered from 0, in the order of the request. */
  price(line: number): Minor;
  /** The amount of a line after the discounts so far. */
  payable(line: number): Minor;
  /** Replaces the unit price of a line before its first discount. `goods_amount` is then calculated from this price. */
  reprice(line: number, price: Minor): void;
  /**
   * Subtracts a discount from these lines (default: all), in proportion to their payable amounts. The discount is at most the
   * sum of these amounts. Returns the discount that was applied.
   */
  discount(rule: { type: string; name: string }, amount: Minor, lines?: readonly number[]): Minor;
  /** Skips all further steps. */
  stop(): void;
};

/**
 * One rule of the price. Steps run by priority, the lowest first. `load` reads the facts of a whole batch in one
 * statement. `apply` prices one order in memory. When it throws a refusal, the order is refused.
 */
export type PriceStep<F = unknown> = {
  readonly name: string;
  readonly priority: number;
  load(tx: Transaction, scope: PriceScope): Promise<F>;
  apply(pricing: Pricing, facts: F): void;
};

export type PriceFacts = ReadonlyMap<string, unknown>;
export type PricePipeline = {
  load(tx: Transaction, scope: PriceScope): Promise<PriceFacts>;
  quote(request: PriceRequest, facts: PriceFacts): Quote;
};

function openPricing(request: PriceRequest) {
  const { lines } = request;
  const prices = lines.map((line) => line.price);
  const discounts = lines.map(() => 0);
  const applied: AppliedRule[] = [];
  const payable = (line: number) => prices[line]! * lines[line]!.qty - discounts[line]!;
  let stopped = false;
  const pricing: Pricing = {
    request,
    price: (line) => prices[line]!,
    payable,
    reprice(line, price) {
      if (!Number.isSafeInteger(price) || price < 0) throw new RangeError(`unit price ${price}`);
      if (discounts[line] !== 0) throw new Error('a line cannot be repriced after a discount');
      prices[line] = price;
    },
    discount({ type, name }, amount, of = lines.map((_, line) => line)) {
      if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`discount ${amount}`);
      const left = of.map(payable);
      const total = Math.min(
        amount,
        left.reduce((a, b) => a + b, 0),
      );
      if (total === 0) return 0;
      allocate(total, left).forEach((share, index) => {
        discounts[of[index]!]! += share;
      });
      applied.push({ type, name, discount: total });
      return total;
    },
    stop() {
      stopped = true;
    },
  };
  const quote = (): Quote => {
    const goods_amount = lines.reduce((sum, line, index) => sum + prices[index]! * line.qty, 0);
    const discount_amount = discounts.reduce((a, b) => a + b, 0);
    const freight_amount = 0;
    return {
      ...{ goods_amount, discount_amount, freight_amount, applied },
      total_amount: goods_amount - discount_amount + freight_amount,
      lines: lines.map((_, index) => ({ price: prices[index]!, payable_amount: payable(index) })),
    };
  };
  return { pricing, quote, isStopped: () => stopped };
}

/** Makes a pipeline of these steps, sorted by priority. Steps with equal priority keep their order. */
export function openPricePipeline(steps: readonly PriceStep[]): PricePipeline {
  const ordered = [...steps].sort((a, b) => a.priority - b.priority);
  if (new Set(ordered.map((step) => step.name)).size !== ordered.length)
    throw new Error('two price steps have the same name');
  return {
    async load(tx, scope) {
      const facts = await Promise.all(ordered.map((step) => step.load(tx, scope)));
      return new Map(ordered.map((step, index) => [step.name, facts[index]]));
    },
    quote(request, facts) {
      const { pricing, quote, isStopped } = openPricing(request);
      for (const step of ordered) {
        if (isStopped()) break;
        step.apply(pricing, facts.get(step.name));
      }
      return quote();
    },
  };
}
