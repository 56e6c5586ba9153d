import { allocate, type Minor } from '@tradepost/core';
import type { Transaction } from '@tradepost/postgres';

/** A line before pricing; `price` is the SKU's unit price. */
type PriceLine = {
  readonly sku_id: number;
  readonly product_id: number;
  readonly activity_product_id: number;
  readonly qty: number;
  readonly price: Minor;
};
export type PriceRequest = { readonly user_id: number; readonly lines: readonly PriceLine[] };

/** Whom and what a batch of orders is about: what a step reads its facts for, before the lines are picked. */
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
  /** In the order of the request: unit price, and what the buyer pays for the line after its share of every discount. */
  lines: { price: Minor; payable_amount: Minor }[];
  applied: AppliedRule[];
};

/** What a step sees and may do. Amounts are minor units; nothing can go below zero. */
type Pricing = {
  readonly request: PriceRequest;
  /** Unit price in force, in the order of the request. */
  price(line: number): Minor;
  /** What is left to pay for a line after the discounts so far. */
  payable(line: number): Minor;
  /** Replaces a unit price, before any discount touches the line: goods_amount is then on this price. */
  reprice(line: number, price: Minor): void;
  /**
   * Takes an amount off these lines (all when absent), each its share by what is left to pay for it. Takes at most what is
   * left, and answers what it took.
   */
  discount(rule: { type: string; name: string }, amount: Minor, lines?: readonly number[]): Minor;
  /** No further step. */
  stop(): void;
};

/**
 * One rule of the price, in its place by priority (lower first). `load` reads what it needs for a whole batch in one
 * statement; `apply` decides one order in plain code and may throw a refusal.
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
  const taken = lines.map(() => 0);
  const applied: AppliedRule[] = [];
  const payable = (line: number) => prices[line]! * lines[line]!.qty - taken[line]!;
  let stopped = false;
  const pricing: Pricing = {
    request,
    price: (line) => prices[line]!,
    payable,
    reprice(line, price) {
      if (!Number.isSafeInteger(price) || price < 0) throw new RangeError(`unit price ${price}`);
      if (taken[line] !== 0) throw new Error('a line is repriced before it is discounted');
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
        taken[of[index]!]! += share;
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
    const discount_amount = taken.reduce((a, b) => a + b, 0);
    const freight_amount = 0;
    return {
      ...{ goods_amount, discount_amount, freight_amount, applied },
      total_amount: goods_amount - discount_amount + freight_amount,
      lines: lines.map((_, index) => ({ price: prices[index]!, payable_amount: payable(index) })),
    };
  };
  return { pricing, quote, isStopped: () => stopped };
}

/** Steps in the order of their priority; equal ones in the order given. */
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
