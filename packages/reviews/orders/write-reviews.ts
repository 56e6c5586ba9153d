import { completeOrders, lockOrdersForAfterSale, orderStatus, selectOrder } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import { reviewErrors } from '../errors.ts';
import { maxReviewAppends } from '../limits.ts';
import { insertAppends, insertReviews, type LineReview, selectLineReviews, updateReviews } from './line-review-store.ts';
import type { Opinion, ReviewRequest } from './review-request.ts';

type LockedOrder = Awaited<ReturnType<typeof lockOrdersForAfterSale>>[number];

const reviewable: readonly number[] = [orderStatus.shipped, orderStatus.completed, orderStatus.afterSale];
/** Whether an order in this state can be reviewed. */
export const isReviewable = (status: number): boolean => reviewable.includes(status);

/** The lines that the request is about, with what it says about each. Throws when one is not a line of the order. */
function opinionsOf(order: LockedOrder, { lines, forAll }: ReviewRequest): ReadonlyMap<number, Opinion> {
  if (!lines) return new Map(order.items.map((item) => [item.id, forAll]));
  const known = new Set(order.items.map((item) => item.id));
  if ([...lines.keys()].some((id) => !known.has(id))) throw reviewErrors.item_not_found();
  return lines;
}

type Rooted = { root: LineReview; opinion: Opinion };

/** The reviews of these lines. Throws when a line has none. */
function rootsOf(opinions: ReadonlyMap<number, Opinion>, reviews: ReadonlyMap<number, LineReview>): Rooted[] {
  return [...opinions].map(([id, opinion]) => {
    const root = reviews.get(id);
    if (!root) throw reviewErrors.not_reviewed();
    return { root, opinion };
  });
}

/** Carries out a request on the locked order. All lines of the request are written, or none. */
async function write(
  tx: Transaction,
  order: LockedOrder,
  reviews: ReadonlyMap<number, LineReview>,
  request: ReviewRequest,
  now: Date,
): Promise<void> {
  const { mode, logistics_score, user_id, append } = request;
  const opinions = opinionsOf(order, request);
  if (mode === 'create') {
    if ([...opinions.keys()].some((id) => reviews.has(id))) throw reviewErrors.already_reviewed();
    const { id: order_id, order_no, merchant_id } = order;
    const written = order.items.filter((item) => opinions.has(item.id));
    const about = (item: LockedOrder['items'][number]) => ({ order_item_id: item.id, product_id: item.product_id });
    await insertReviews(
      tx,
      written.map((item) => ({
        ...{ order_id, order_no, merchant_id, user_id, logistics_score },
        ...about(item),
        ...opinions.get(item.id)!,
      })),
      now,
    );
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
  if (!order || !isReviewable(order.status)) throw reviewErrors.cannot_review();
  const reviews = new Map((await selectLineReviews(tx, [order_id])).map((review) => [review.order_item_id, review]));
  await write(tx, order, reviews, request, now);
  if (mode === 'append' || order.status !== orderStatus.shipped) return;
  const created = mode === 'create' ? opinionsOf(order, request) : new Map();
  if (order.items.every((item) => reviews.has(item.id) || created.has(item.id)))
    await completeOrders(tx, [order_id], 'reviewed', { actor: { type: 'user', id: user_id }, now });
}
