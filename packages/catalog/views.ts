import { isoInZone, type Locale, toWire } from '@tradepost/core';
import { fileUrls } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import type { Category } from './categories/category-store.ts';
import { maxReviewImages } from './limits.ts';
import { type CardProduct, textsIn, type ViewContext } from './products/product.ts';
import type { Review } from './storefront/review-store.ts';

/** The context in which rows become answers, for one request. */
export const viewsOf =
  ({ settings, config }: Runtime) =>
  (request: Request, locale: Locale): ViewContext => {
    const zone = settings.get(timeZone);
    return {
      locale,
      iso: (at) => isoInZone(at, zone),
      fileUrl: fileUrls(request, config).absolute,
    };
  };

export function recommendedView(product: CardProduct, view: ViewContext) {
  return {
    id: product.id,
    product_id: product.id,
    category_id: product.category_id,
    ...textsIn(product, view.locale),
    cover: view.fileUrl(product.cover),
    price: toWire(product.price),
    origin_price: toWire(product.origin_price),
    stock: product.sellable,
    sales: product.sales,
    favorite_count: product.favorite_count,
  };
}

/** The fields of a category that storefront and back office show, with its base name. */
export function categoryView(category: Category, view: ViewContext) {
  const { id, parent_id, name, icon, sort, status } = category;
  return {
    ...{ id, parent_id, name, sort, status },
    icon: view.fileUrl(icon),
    created_at: view.iso(category.created_at),
    updated_at: view.iso(category.updated_at),
  };
}

/** The order number is masked, because every visitor can read reviews. */
const masked = (orderNo: string) => (orderNo.length > 8 ? `${orderNo.slice(0, 4)}****${orderNo.slice(-4)}` : '');

export function reviewView(review: Review, view: ViewContext) {
  const { id, order_id, order_item_id, product_id, user_id, merchant_id } = review;
  const { product_score, logistics_score, content, edited_times, user_nickname } = review;
  const times = (row: { created_at: Date | string; updated_at: Date | string }) => ({
    created_at: view.iso(new Date(row.created_at)),
    updated_at: view.iso(new Date(row.updated_at)),
  });
  const urls = (images: readonly string[]) => images.slice(0, maxReviewImages).map(view.fileUrl);
  const { admin_reply: reply } = review;
  return {
    ...{ id, order_id, order_item_id, order_no: masked(review.order_no), product_id, user_id, merchant_id },
    ...{ product_score, logistics_score, content, images: urls(review.images), edited_times, ...times(review) },
    ...{ user_nickname, user_avatar: view.fileUrl(review.user_avatar) },
    appends: review.appends.map((append) => ({ ...append, images: urls(append.images), ...times(append) })),
    admin_reply: reply && { ...reply, ...times(reply) },
  };
}
