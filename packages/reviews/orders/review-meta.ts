import { maxReviewAppends, maxShownImages } from '../limits.ts';
import type { LineReview } from './line-review-store.ts';
import { isReviewable } from './write-reviews.ts';

type Line = { id: number; product_id: number; title: string; cover: string };
type ReviewedOrder = { id: number; order_no: string; status: number; is_imported: boolean; items: readonly Line[] };

/** What the shopper can do about the reviews of an order, and what its lines have now. */
export function reviewMeta(order: ReviewedOrder, reviews: readonly LineReview[], fileUrl: (path: string) => string) {
  const byLine = new Map(reviews.map((review) => [review.order_item_id, review]));
  const open = !order.is_imported && isReviewable(order.status);
  const reviewed = order.items.flatMap((line) => byLine.get(line.id) ?? []);
  const logistics_score = reviewed[0]?.logistics_score ?? 5;
  return {
    order_id: order.id,
    order_no: order.order_no,
    logistics_score,
    can_create: open && reviewed.length < order.items.length,
    can_edit: open && reviewed.length > 0,
    can_append: open && reviewed.some((review) => review.appends < maxReviewAppends),
    options: order.items.map((line) => {
      const review = byLine.get(line.id);
      return {
        order_item_id: line.id,
        review_id: review?.id ?? 0,
        has_review: review !== undefined,
        product_id: line.product_id,
        product_title: line.title,
        product_cover: fileUrl(line.cover),
        product_score: review?.product_score ?? 5,
        logistics_score: review?.logistics_score ?? logistics_score,
        content: review?.content ?? '',
        images: (review?.images ?? []).slice(0, maxShownImages).map(fileUrl),
      };
    }),
  };
}
