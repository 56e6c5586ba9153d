import { isoInZone, labelOf } from '@tradepost/core';
import { productTypeLabels } from '../products/product.ts';
import type { MallView } from '../products/product-views.ts';
import { type Exchange, type ExchangeStatus, exchangeStatuses, exchangeStatusLabels } from './exchange.ts';

/** An exchange as its shopper and staff see it. */
export function exchangeView(exchange: Exchange, { zone, locale, fileUrl }: MallView) {
  const iso = (at: Date | null) => at && isoInZone(at, zone);
  const { id, exchange_no, user_id, product_id, product_title, product_type, points_cost, qty, status } = exchange;
  const { address_snapshot, tracking_no, coupon_user_ids, virtual_content, remark } = exchange;
  return {
    ...{ id, exchange_no, user_id, product_id, product_title, product_type, points_cost, qty, status },
    ...{ address_snapshot, tracking_no, coupon_user_ids, virtual_content, remark },
    product_type_label: labelOf(productTypeLabels, product_type, locale),
    product_cover: fileUrl(exchange.product_cover),
    status_label: labelOf(exchangeStatusLabels, status, locale),
    coupon_user_id: coupon_user_ids[0] ?? 0,
    created_at: isoInZone(exchange.created_at, zone),
    shipped_at: iso(exchange.shipped_at),
    completed_at: iso(exchange.completed_at),
    canceled_at: iso(exchange.canceled_at),
  };
}

/** The status of a filter. Null: all. */
export const statusIn = (sent: string | undefined): ExchangeStatus | null =>
  exchangeStatuses.find((status) => status === sent) ?? null;
