import type { Localized, Minor, RefusalFactory } from '@tradepost/core';
import { defineRegistry } from '@tradepost/module';
import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { z } from 'zod';

/** A line before pricing. `price` is the unit price of the SKU. `activity_product_id` 0 is an ordinary line. */
export type PriceLine = {
  readonly sku_id: number;
  readonly product_id: number;
  readonly activity_product_id: number;
  readonly qty: number;
  readonly price: Minor;
};

/** What a shopper chooses besides the lines, by the field names of the body: `coupon_ids`, `points_use`. */
type Choices = Readonly<Record<string, unknown>>;

/** An order to price. Each pair of `sku_id` and `activity_product_id` occurs once. */
export type PriceRequest = {
  readonly user_id: number;
  readonly lines: readonly PriceLine[];
  readonly choices: Choices;
};

/** What a batch of orders may contain. A step reads its facts for it, before the lines of each order are chosen. */
export type PriceScope = {
  /** The shoppers and what they choose. A shopper occurs once per order. */
  readonly requests: readonly { readonly user_id: number; readonly choices: Choices }[];
  /** Distinct, as `skuIds` and `activityProductIds`. */
  readonly userIds: readonly number[];
  readonly skuIds: readonly number[];
  /** Without 0: empty when all lines are ordinary. */
  readonly activityProductIds: readonly number[];
  readonly now: Date;
  /**
   * True when the orders are placed: `sql` is their transaction, and rows that `apply` counts on are locked in id order. False
   * for a quote.
   */
  readonly lock: boolean;
};

/** The activity from which a line gets its price. The order line keeps it. */
export type LineActivity = {
  readonly activity_id: number;
  /** `seckill`, `group_buy` or `bargain`. */
  readonly activity_type: string;
  readonly activity_title: string;
};

export type DiscountType = 'member' | 'full_reduce' | 'coupon' | 'points';

export const discountLabels: Readonly<Record<DiscountType, Localized>> = {
  member: { en: 'Member Price', 'zh-CN': '会员价' },
  full_reduce: { en: 'Full Reduction', 'zh-CN': '满减' },
  coupon: { en: 'Coupon', 'zh-CN': '优惠券' },
  points: { en: 'Points', 'zh-CN': '积分抵扣' },
};

/** A part of the discount of an order or of a line, in minor units. One without a name of its own, '', is shown by the label of its type. */
export type Discount = { readonly type: string; readonly name: string; readonly amount: Minor };

/** The operations of a step on one order. Amounts are in minor units. No amount falls below zero. */
export type Pricing = {
  readonly request: PriceRequest;
  readonly now: Date;
  /** The lines without an activity price, numbered from 0 in the order of the request: only these take discounts. */
  ordinaryLines(): readonly number[];
  /** The activity of a line; null for an ordinary line. */
  activity(line: number): LineActivity | null;
  /** The current unit price of a line. */
  price(line: number): Minor;
  /** The amount of a line after the discounts so far. */
  payable(line: number): Minor;
  /** The sum of `payable` over the ordinary lines. */
  base(): Minor;
  /**
   * Gives a line its activity price. `goods_amount` is calculated from it, and no discount changes the line. A later step may give the
   * line another price, such as the one that a shopper bargained for.
   */
  setActivity(line: number, price: Minor, activity: LineActivity): void;
  /**
   * Subtracts a discount from these ordinary lines (default: all), in proportion to their payable amounts. It is at most the sum of
   * these amounts. Returns the discount that was applied.
   */
  discount(rule: { type: DiscountType; name: string }, amount: Minor, lines?: readonly number[]): Minor;
  /**
   * Subtracts an amount of its own from each of these ordinary lines, as one discount of the order. An amount is at most what is
   * payable for its line. Each line occurs once. Returns the discount that was applied.
   */
  discountLines(
    rule: { type: DiscountType; name: string },
    amounts: readonly { readonly line: number; readonly amount: Minor }[],
  ): Minor;
};

/** An order that is written in this transaction. */
export type PlacedOrder = { readonly id: number; readonly order_no: string; readonly user_id: number };

/** An order with the names of the steps of which it uses something, such as `coupon`. */
export type OrderWithUses = PlacedOrder & { readonly price_steps: readonly string[] };

/**
 * One rule of the price, added to `priceSteps`. Steps run by priority, the lowest first: activity 10, bargain 11, group buy 12, member price
 * 15, full reduction 20, coupon 30, points 40, distribution 50.
 *
 * `Facts` are what the step knows about a batch of orders. `Use` is what one order uses up: a coupon, points, pieces of an activity.
 */
// biome-ignore lint/suspicious/noExplicitAny: a list has steps of different facts and uses
export type PriceStep<Facts = any, Use = any> = {
  /** Unique. Orders that use something of this step record it in `price_steps`. */
  readonly name: string;
  readonly priority: number;
  /** The fields that the step adds to the bodies of `POST /api/v1/orders` and `POST /api/v1/orders/quote`. All are optional. */
  readonly choices?: z.ZodRawShape;
  /** The refusals that `apply` throws. */
  readonly refuses?: readonly RefusalFactory[];
  /** The largest number of statements of `load`, `write` and `release`, for any number of orders. */
  readonly statements: { readonly load: number; readonly write: number; readonly release: number };
  /** Reads the facts of a whole batch. Sends no statement when the scope has nothing of this step. */
  load(sql: Queryable, scope: PriceScope): Promise<Facts>;
  /**
   * Prices one order in memory, from the facts alone. Returns what the order uses, if anything. It changes no facts. When it throws a
   * refusal, the order is refused.
   */
  apply(pricing: Pricing, facts: Facts): Use | undefined;
  /** Notes in the facts what an accepted order uses, so that later orders of the batch do not use it again. */
  take?(use: Use, facts: Facts): void;
  /** The statements that write the uses of the accepted orders, in their transaction. */
  write?(tx: Transaction, uses: readonly { order: PlacedOrder; use: Use }[], now: Date): Statement[];
  /**
   * The statements that return what cancelled orders use, in the transaction of the cancellation. Only orders that recorded the
   * step are passed. Rows are locked in the order of `load`. A repeat changes nothing: orders that were cancelled while the module of
   * the step was off are released by a job of orders, when it is on again.
   */
  release?(tx: Transaction, orders: readonly OrderWithUses[], now: Date): Statement[];
};

/** The steps of the price of an order. Packages add theirs, and orders runs them. */
export const priceSteps = defineRegistry<PriceStep>('pricing.steps');
