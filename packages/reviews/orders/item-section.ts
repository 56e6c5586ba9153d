import type { OrderItemSection } from '@tradepost/orders';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { reviewView } from '../review.ts';
import { selectReviewsOfItems } from '../review-store.ts';

/** Adds its review to each line of an order. */
export function reviewOfItem({ sql, settings }: Pick<Runtime, 'sql' | 'settings'>): OrderItemSection {
  return {
    async load(orderItemIds, _locale, fileUrl) {
      const context = { zone: settings.get(timeZone), fileUrl };
      const reviews = await selectReviewsOfItems(sql, orderItemIds);
      return new Map(reviews.map((review) => [review.order_item_id, { review: reviewView(review, context) }]));
    },
  };
}
