import { allocate, type Minor } from '@tradepost/core';
import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { z } from 'zod';
import type {
  Discount,
  LineActivity,
  OrderWithUses,
  PlacedOrder,
  PriceRequest,
  PriceScope,
  PriceStep,
  Pricing,
} from './price-step.ts';

/** A priced order. Amounts are in minor units. */
export type PricedOrder = {
  goods_amount: Minor;
  discount_amount: Minor;
  freight_amount: Minor;
  total_amount: Minor;
  /**
   * In the order of the request. `payable_amount` is what the buyer pays for the line, after its share of all discounts. `discounts`
   * are these shares. `activity` is null for an ordinary line.
   */
  lines: { price: Minor; payable_amount: Minor; discounts: Discount[]; activity: LineActivity | null }[];
  /** Adds up to `discount_amount`. */
  discounts: Discount[];
  /** What the order uses, by the name of the step. */
  uses: ReadonlyMap<string, unknown>;
};

/** The facts of all steps, by the name of the step. */
export type PriceFacts = ReadonlyMap<string, unknown>;

export type PricePipeline = {
  /** The names of the steps. */
  readonly steps: readonly string[];
  /** The fields of all steps for the body of an order. */
  readonly choices: z.ZodRawShape;
  readonly refuses: NonNullable<PriceStep['refuses']>;
  /** The largest number of statements of one `load`, of `load` and `write`, and of `release`. */
  readonly statements: { readonly quote: number; readonly place: number; readonly release: number };
  load(sql: Queryable, scope: PriceScope): Promise<PriceFacts>;
  /** Prices one order. Throws the refusal of a step. */
  price(request: PriceRequest, facts: PriceFacts, now: Date): PricedOrder;
  /** Notes in the facts what an accepted order uses. */
  take(priced: PricedOrder, facts: PriceFacts): void;
  write(
    tx: Transaction,
    orders: readonly { order: PlacedOrder; priced: Pick<PricedOrder, 'uses'> }[],
    now: Date,
  ): Statement[];
  release(tx: Transaction, orders: readonly OrderWithUses[], now: Date): Statement[];
};

function checkAmount(amount: Minor): void {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`discount ${amount}`);
}

type Row = { price: Minor; payable: Minor; discounts: Discount[]; activity: LineActivity | null };

/** Subtracts shares, which their lines can bear, and records them as one discount. Returns their sum. */
function subtract(
  order: { rows: readonly Row[]; discounts: Discount[] },
  { type, name }: Pick<Discount, 'type' | 'name'>,
  shares: readonly { line: number; amount: Minor }[],
): Minor {
  for (const { line, amount } of shares) {
    if (amount === 0) continue;
    const row = order.rows[line]!;
    row.payable -= amount;
    row.discounts.push({ type, name, amount });
  }
  const total = shares.reduce((sum, { amount }) => sum + amount, 0);
  if (total > 0) order.discounts.push({ type, name, amount: total });
  return total;
}

function openPricing(request: PriceRequest, now: Date) {
  const { lines } = request;
  const rows = lines.map(({ price, qty }): Row => ({ price, payable: price * qty, discounts: [], activity: null }));
  // Cents that are left over go to lines by their SKU, so the order of the lines does not matter.
  const bySku = lines
    .map((_, line) => line)
    .sort(
      (a, b) =>
        lines[a]!.sku_id - lines[b]!.sku_id || lines[a]!.activity_product_id - lines[b]!.activity_product_id || a - b,
    );
  const ordinary = (): number[] => bySku.filter((line) => rows[line]!.activity === null);
  const payableOf = (of: readonly number[]) => of.reduce((sum, line) => sum + rows[line]!.payable, 0);
  const discounts: Discount[] = [];
  const pricing: Pricing = {
    request,
    now,
    ordinaryLines: () => ordinary().sort((a, b) => a - b),
    activity: (line) => rows[line]!.activity,
    price: (line) => rows[line]!.price,
    payable: (line) => rows[line]!.payable,
    base: () => payableOf(ordinary()),
    setActivity(line, price, activity) {
      if (!Number.isSafeInteger(price) || price < 0) throw new RangeError(`unit price ${price}`);
      const row = rows[line]!;
      if (row.discounts.length > 0) throw new Error('a line cannot get an activity price after a discount');
      Object.assign(row, { price, payable: price * lines[line]!.qty, activity });
    },
    discount(rule, amount, of) {
      checkAmount(amount);
      const chosen = of && new Set(of);
      const taking = ordinary().filter((line) => chosen?.has(line) ?? true);
      const total = Math.min(amount, payableOf(taking));
      if (total === 0) return 0;
      const shares = allocate(
        total,
        taking.map((line) => rows[line]!.payable),
      );
      return subtract(
        { rows, discounts },
        rule,
        taking.map((line, index) => ({ line, amount: shares[index]! })),
      );
    },
    discountLines(rule, amounts) {
      for (const { amount } of amounts) checkAmount(amount);
      const given = new Map(amounts.map(({ line, amount }) => [line, amount]));
      if (given.size !== amounts.length) throw new Error('a line occurs twice in a discount');
      return subtract(
        { rows, discounts },
        rule,
        ordinary().map((line) => ({ line, amount: Math.min(given.get(line) ?? 0, rows[line]!.payable) })),
      );
    },
  };
  const priced = (uses: ReadonlyMap<string, unknown>): PricedOrder => {
    const goods_amount = lines.reduce((sum, line, index) => sum + rows[index]!.price * line.qty, 0);
    const discount_amount = discounts.reduce((sum, { amount }) => sum + amount, 0);
    const freight_amount = 0;
    return {
      ...{ goods_amount, discount_amount, freight_amount, discounts, uses },
      total_amount: goods_amount - discount_amount + freight_amount,
      lines: rows.map(({ payable, ...row }) => ({ ...row, payable_amount: payable })),
    };
  };
  return { pricing, priced };
}

/** The fields of all steps. Throws when two steps have the same field. */
function choicesOf(steps: readonly PriceStep[]): z.ZodRawShape {
  const fields = steps.flatMap((step) => Object.entries(step.choices ?? {}));
  const choices = Object.fromEntries(fields);
  if (Object.keys(choices).length !== fields.length) throw new Error('two price steps have the same field');
  return choices;
}

/** Makes a pipeline of these steps, sorted by priority. Steps with equal priority keep their order. */
export function openPricePipeline(steps: readonly PriceStep[]): PricePipeline {
  const ordered = [...steps].sort((a, b) => a.priority - b.priority);
  if (new Set(ordered.map((step) => step.name)).size !== ordered.length)
    throw new Error('two price steps have the same name');
  const sumOf = (part: keyof PriceStep['statements']) => ordered.reduce((sum, step) => sum + step.statements[part], 0);
  return {
    steps: ordered.map(({ name }) => name),
    choices: choicesOf(ordered),
    refuses: ordered.flatMap((step) => step.refuses ?? []),
    statements: { quote: sumOf('load'), place: sumOf('load') + sumOf('write'), release: sumOf('release') },
    async load(sql, scope) {
      const facts = await Promise.all(ordered.map((step) => step.load(sql, scope)));
      return new Map(ordered.map((step, index) => [step.name, facts[index]]));
    },
    price(request, facts, now) {
      const { pricing, priced } = openPricing(request, now);
      const uses = new Map<string, unknown>();
      for (const step of ordered) {
        const use = step.apply(pricing, facts.get(step.name));
        if (use !== undefined) uses.set(step.name, use);
      }
      return priced(uses);
    },
    take({ uses }, facts) {
      if (uses.size === 0) return;
      for (const step of ordered) if (uses.has(step.name)) step.take?.(uses.get(step.name), facts.get(step.name));
    },
    write: (tx, orders, now) =>
      ordered.flatMap((step) => {
        const uses = orders.flatMap(({ order, priced }) =>
          priced.uses.has(step.name) ? [{ order, use: priced.uses.get(step.name) }] : [],
        );
        return uses.length > 0 ? (step.write?.(tx, uses, now) ?? []) : [];
      }),
    release: (tx, orders, now) =>
      ordered.flatMap((step) => {
        const using = orders.filter((order) => order.price_steps.includes(step.name));
        return using.length > 0 ? (step.release?.(tx, using, now) ?? []) : [];
      }),
  };
}
