import { accountPairs } from './pairs/account-pairs.ts';
import { afterSalePairs } from './pairs/after-sale-pairs.ts';
import { catalogPairs } from './pairs/catalog-pairs.ts';
import { orderPairs } from './pairs/order-pairs.ts';
import { paymentPairs } from './pairs/payment-pairs.ts';
import { promotionPairs } from './pairs/promotion-pairs.ts';
import type { Pair } from './race.ts';

/** Pairs of use cases of the shop that contend for the same rows. */
export const pairs: readonly Pair[] = [
  ...orderPairs,
  ...paymentPairs,
  ...promotionPairs,
  ...afterSalePairs,
  ...catalogPairs,
  ...accountPairs,
];
