import { selectProductNames, textsIn } from '@tradepost/catalog';
import type { Locale } from '@tradepost/core';
import { fileUrls } from '@tradepost/http';
import { selectSoldItems } from '@tradepost/orders';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { type Review, reviewView } from '../review.ts';

/**
 * Reviews as the back office sees them, with product and order line. One statement reads all products, one all lines.
 * The product is as it is now, the line as the buyer saw it.
 */
export async function adminReviewViews(
  { sql, settings, config }: Pick<Runtime, 'sql' | 'settings' | 'config'>,
  reviews: readonly Review[],
  { request, locale }: { request: Request; locale: Locale },
) {
  if (reviews.length === 0) return [];
  const [products, items] = await Promise.all([
    selectProductNames(sql, [...new Set(reviews.map((review) => review.product_id))]),
    selectSoldItems(
      sql,
      reviews.map((review) => review.order_item_id),
    ),
  ]);
  const fileUrl = fileUrls(request, config).absolute;
  const context = { zone: settings.get(timeZone), fileUrl };
  return reviews.map((review) => {
    const product = products.get(review.product_id);
    const item = items.get(review.order_item_id);
    return {
      ...reviewView(review, context),
      product: {
        id: review.product_id,
        title: product ? textsIn(product, locale).title : '',
        cover: fileUrl(product?.cover ?? ''),
      },
      order_item: {
        id: review.order_item_id,
        title: item?.title ?? '',
        cover: fileUrl(item?.cover ?? ''),
        attrs: JSON.stringify(item?.attrs ?? []),
      },
    };
  });
}
