import { isoInZone } from '@tradepost/core';
import { maxShownImages } from './limits.ts';

type Written = { id: number; review_id: number; content: string; created_at: string; updated_at: string };
/** A review of an order line with its additions and the reply of the shop. Times inside these parts are ISO texts. */
export type Review = {
  id: number;
  order_id: number;
  order_item_id: number;
  order_no: string;
  product_id: number;
  user_id: number;
  merchant_id: number;
  product_score: number;
  logistics_score: number;
  content: string;
  images: string[];
  edited_times: number;
  created_at: Date;
  updated_at: Date;
  user_nickname: string;
  user_avatar: string;
  appends: (Written & { user_id: number; images: string[] })[];
  admin_reply: (Written & { admin_id: number }) | null;
};

/** The scores of a product: the averages over its reviews, and their number. */
export type ReviewSummary = { avg_product_score: number; avg_logistics_score: number; total: number };

/** The context in which reviews become answers: time zone of the shop, address of its files. */
export type ReviewViewContext = { readonly zone: string; fileUrl(path: string): string };

/** A review in the answers for its author and for the back office. */
export function reviewView(review: Review, { zone, fileUrl }: ReviewViewContext) {
  const times = (row: { created_at: Date | string; updated_at: Date | string }) => ({
    created_at: isoInZone(new Date(row.created_at), zone),
    updated_at: isoInZone(new Date(row.updated_at), zone),
  });
  const urls = (images: readonly string[]) => images.slice(0, maxShownImages).map(fileUrl);
  const { appends, admin_reply: reply, ...own } = review;
  return {
    ...own,
    images: urls(review.images),
    ...times(review),
    user_avatar: fileUrl(review.user_avatar),
    appends: appends.map((append) => ({ ...append, images: urls(append.images), ...times(append) })),
    admin_reply: reply && { ...reply, ...times(reply) },
  };
}

const masked = (orderNo: string) => (orderNo.length > 8 ? `${orderNo.slice(0, 4)}****${orderNo.slice(-4)}` : '');

/** A review on the page of a product. The order number is masked, because every visitor can read it. */
export const publicReviewView = (review: Review, context: ReviewViewContext) => ({
  ...reviewView(review, context),
  order_no: masked(review.order_no),
});
