import { amount, id, list, text, timestamp, url } from '@tradepost/http';
import { z } from 'zod';
import { maxAnnouncements, maxChartDays, maxHotProducts, maxStockWarnings } from '../limits.ts';
import { number, pieOf, seriesOf } from '../schemas.ts';

const day = (about: string) =>
  text(32)
    .optional()
    .meta({ description: about, examples: ['2026-03-01'] });

export const dashboardQuery = z.object({
  range: z.enum(['7d', '1w', '1m']).optional().meta({ description: 'days of sales_trend; default: 30 days' }),
  start_date: day('the first day of sales_trend'),
  end_date: day('the last day of sales_trend'),
});

const count = () => z.int().meta({ examples: [3] });
const ratio = () => z.number().meta({ description: '0.18 means 18 % more', examples: [0.18] });

export const dashboardView = z.object({
  today_orders: count(),
  today_sales: amount(),
  today_avg_price: amount(),
  pending_refunds: count(),
  pending_ship: count(),
  pending_after_sale: count(),
  online_sessions: count(),
  unread_message: count(),
  stock_warning: count(),
  pending_withdrawals: count(),
  pending_exchanges: count(),
  compare: z.object({ revenue_yoy: ratio(), revenue_mom: ratio(), order_yoy: ratio(), order_mom: ratio() }),
  sales_trend: list(
    z.object({ date: z.string().meta({ examples: ['2026-03-01'] }), orders: count(), sales: amount() }),
    maxChartDays,
  ),
  trend: z.object({ revenue_7d: seriesOf(7, 1), revenue_30d: seriesOf(30, 1), order_7d: seriesOf(7, 1) }),
  status_distribution: pieOf(6),
  hot_products: list(z.object({ id: id(), title: z.string(), cover: url(), sold_qty: number() }), maxHotProducts),
  announcements: list(
    z.object({
      id: id(),
      title: z.string(),
      content: z.string(),
      type: z.enum(['normal', 'urgent', 'info']),
      created_at: timestamp(),
    }),
    maxAnnouncements,
  ),
  stock_warning_list: list(
    z.object({ product_id: id(), sku_id: id(), title: z.string(), stock: z.int(), threshold: z.int() }),
    maxStockWarnings,
  ),
});
