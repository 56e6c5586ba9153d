import type { Localized, RefusalFactory } from '@tradepost/core';
import { defineRegistry } from '@tradepost/module';
import type { Queryable } from '@tradepost/postgres';

export const activityTypes = ['seckill', 'group_buy', 'bargain'] as const;
export type ActivityType = (typeof activityTypes)[number];

/** The further fields that activities can have. */
export const activityOptions = [
  'group_size',
  'expire_hours',
  'min_cut_amount',
  'max_cut_amount',
  'max_helpers',
] as const;
export type ActivityOption = (typeof activityOptions)[number];

/** The further fields of an activity, by name. Amounts are in minor units. Each field of the kind has a value. */
export type ActivityOptions = Readonly<Partial<Record<ActivityOption, number>>>;

/** A further field of the activities of a kind. */
export type OptionField = {
  readonly name: ActivityOption;
  /** `amount`: minor units inside, currency units on the wire. */
  readonly unit: 'count' | 'amount';
  /** The value of a new activity without the field. `min` and `max` are inclusive. */
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly about: string;
};

/** A line of a cart in an activity of a kind. */
export type KindLine = { readonly sku_id: number; readonly activity_product_id: number };

/** A kind of activity. The package of the kind adds it to `activityKinds`. Without the package its activities do not exist. */
export type ActivityKind = {
  readonly type: ActivityType;
  /** The segment of its paths: `/api/v1/seckill/products`. */
  readonly path: 'seckill' | 'group-buy' | 'bargain';
  /** `activity_type_label`. */
  readonly label: Localized;
  /** The group in the API reference. */
  readonly tag: string;
  /** Ids in the demo shop, for the examples of the API reference: of an activity, and of one of its products (`activity_product_id`). */
  readonly examples: { readonly activity: number; readonly row: number };
  /** The permission codes of its routes. `remove` deletes an activity. */
  readonly permissions: { readonly view: string; readonly edit: string; readonly remove: string };
  /** `fixed`: rows have an `activity_price`. `bargained`: rows have a `start_price` and a `floor_price`. */
  readonly prices: 'fixed' | 'bargained';
  /** The name that the second family of console pages has for `activity_price`. */
  readonly priceAlias?: 'seckill_price' | 'group_price';
  readonly options: readonly OptionField[];
  /** The prices that a shopper has for lines of this kind instead of those of the rows, in minor units. One statement. */
  readonly ownPrices?: (
    sql: Queryable,
    userId: number,
    lines: readonly KindLine[],
  ) => Promise<readonly (number | undefined)[]>;
  /** Checks the options of an activity together. `check` throws one of `refuses`. */
  readonly checkOptions?: {
    readonly refuses: readonly RefusalFactory[];
    readonly check: (options: ActivityOptions) => void;
  };
};

export const activityKinds = defineRegistry<ActivityKind>('activities.kinds', { isStatic: true });

/** The options of a new activity of this kind. */
export const defaultOptions = (kind: Pick<ActivityKind, 'options'>): ActivityOptions =>
  Object.fromEntries(kind.options.map(({ name, value }) => [name, value]));

/** The price of a row before any bargaining, in minor units. */
export const rowPrice = (
  kind: Pick<ActivityKind, 'prices'>,
  row: { readonly activity_price: number; readonly start_price: number },
): number => (kind.prices === 'fixed' ? row.activity_price : row.start_price);
