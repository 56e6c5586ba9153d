import {
  completeOrders,
  lockOrdersForAfterSale,
  type OrderWithLines,
  orderStatus,
  selectOrder,
} from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import { recordEvents } from '@tradepost/runtime';
import { reviewErrors } from '../errors.ts';
import { maxReviewAppends } from '../limits.ts';
import { reviewCreated } from '../review-events.ts';
import {
  insertAppends,
  insertReviews,
  type LineReview,
  selectLineReviews,
  updateReviews,
} from './line-review-store.ts';
import type { Opinion, ReviewRequest } from './review-request.ts';

/** By line of the order. */
type Opinions = ReadonlyMap<number, Opinion>;
type Reviews = ReadonlyMap<number, LineReview>;

const reviewable: readonly number[] = [orderStatus.shipped, orderStatus.completed, orderStatus.afterSale];
/** Whether an order in this state can be reviewed. */
export const isReviewable = (status: number): boolean => reviewable.includes(status);

/** The lines that the request is about, with what it says about each. Throws when one is not a line of the order. */
function opinionsOf(order: OrderWithLines, { lines, forAll }: ReviewRequest): Opinions {
  if (!lines) return new Map(order.items.map((item) => [item.id, forAll]));
  const known = new Set(order.items.map((item) => item.id));
  if ([...lines.keys()].some((id) => !known.has(id))) throw reviewErrors.item_not_found();
  return lines;
}

/** The reviews of these lines. Throws when a line has none. */
function rootsOf(opinions: Opinions, reviews: Reviews): { root: LineReview; opinion: Opinion }[] {
  return [...opinions].map(([id, opinion]) => {
    const root = reviews.get(id);
    if (!root) throw reviewErrors.not_reviewed();
    return { root, opinion };
  });
}

/** Carries out a request on the locked order. All lines of the request are written, or none. */
async function write(
  tx: Transaction,
  order: OrderWithLines,
  { reviews, opinions }: { reviews: Reviews; opinions: Opinions },
  { mode, user_id, logistics_score, append }: ReviewRequest,
  now: Date,
): Promise<void> {
  if (mode === 'create') {
    if ([...opinions.keys()].some((id) => reviews.has(id))) throw reviewErrors.already_reviewed();
    const rows = order.items.flatMap(({ id: order_item_id, product_id }) => {
      const opinion = opinions.get(order_item_id);
      const { id: order_id, order_no, merchant_id } = order;
      const line = { order_id, order_no, merchant_id, order_item_id, product_id, user_id, logistics_score };
      return opinion ? [{ ...line, ...opinion }] : [];
    });
    const ids = await insertReviews(tx, rows, now);
    const facts = rows.map(({ order_id, order_no, order_item_id, product_id, product_score }) => ({
      ...{ review_id: ids.get(order_item_id)!, order_id, order_no, order_item_id, product_id, user_id },
      ...{ product_score, logistics_score },
    }));
    if (facts.length > 0) await recordEvents(tx, reviewCreated, facts, now);
    return;
  }
  const roots = rootsOf(opinions, reviews);
  if (mode === 'edit') {
    const changed = roots.map(({ root, opinion }) => ({ id: root.id, logistics_score, ...opinion }));
    return updateReviews(tx, changed, now);
  }
  if (roots.some(({ root }) => root.appends >= maxReviewAppends))
    throw reviewErrors.too_many_appends({ max: maxReviewAppends });
  const ids = roots.map(({ root }) => root.id);
  return insertAppends(tx, ids, { user_id, ...append, now });
}

/**
 * Creates, edits or appends to the reviews of lines of one order. The row of the order is locked, so the writers of one
 * order run one after the other. A shipped order becomes completed when every line has a review.
 */
export async function writeReviews(tx: Transaction, request: ReviewRequest, now: Date): Promise<void> {
  const { order_id, user_id, mode } = request;
  // The order of another shopper is not locked.
  if (!(await selectOrder(tx, order_id, user_id))) throw reviewErrors.order_not_found();
  const [order] = await lockOrdersForAfterSale(tx, [order_id]);
  if (!order || order.is_imported || !isReviewable(order.status)) throw reviewErrors.cannot_review();
  const opinions = opinionsOf(order, request);
  const reviews: Reviews = new Map(
    (await selectLineReviews(tx, [order_id])).map((review) => [review.order_item_id, review]),
  );
  await write(tx, order, { reviews, opinions }, request, now);
  const isReviewed = (id: number) => reviews.has(id) || opinions.has(id);
  if (mode !== 'append' && order.status === orderStatus.shipped && order.items.every(({ id }) => isReviewed(id)))
    await completeOrders(tx, [order_id], 'reviewed', { actor: { type: 'user', id: user_id }, now });
}
