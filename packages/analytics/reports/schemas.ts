import { amount, list, url } from '@tradepost/http';
import { z } from 'zod';
import { maxCategories, maxRankedSkus } from '../limits.ts';
import { number, percent, pieOf, seriesOf } from '../schemas.ts';

export const reportQuery = z.object({
  days: z
    .union([z.literal(1), z.literal(7), z.literal(30), z.literal(90)])
    .default(7)
    .meta({ description: 'the period in days; the last one is today', examples: [7] }),
});

const count = () => z.int().meta({ examples: [3] });
const perDay = (lines: number) => seriesOf(90, lines);

export const salesView = z.object({
  summary: z.object({
    gmv: amount(),
    order_count: count(),
    avg_order_value: amount(),
    refund_rate: percent(),
    refund_count: count(),
  }),
  revenue_trend: perDay(1),
  order_trend: perDay(1),
  pay_method_distribution: pieOf(3),
  hourly_distribution: seriesOf(24, 1),
});

export const productsView = z.object({
  summary: z.object({
    total_sku: count(),
    active_sku_rate: z.number().meta({ description: 'a part of 1', examples: [0.42] }),
    avg_inventory_turnover: number(),
  }),
  sku_ranking: list(
    z.object({ rank: count(), title: z.string(), cover: url(), sold_qty: count(), revenue: amount() }),
    maxRankedSkus,
  ),
  category_sales: pieOf(maxCategories + 1),
  price_range: pieOf(5),
  inventory_status: pieOf(3),
});

export const customersView = z.object({
  summary: z.object({
    total_customers: count(),
    new_customer_count: count(),
    returning_count: count(),
    repurchase_rate: percent(),
    avg_customer_value: amount(),
  }),
  new_vs_returning: pieOf(2),
  order_value_distribution: seriesOf(5, 1),
  purchase_frequency: seriesOf(4, 1),
  rfm_radar: z.object({
    indicator: list(z.object({ name: z.string(), max: z.literal(100) }), 3),
    data: list(z.object({ name: z.string(), value: list(number(), 3) }), 1),
  }),
});

export const trafficView = z.object({
  summary: z.object({ total_pv: count(), total_uv: count(), avg_stay_seconds: number(), bounce_rate: percent() }),
  pv_uv_trend: perDay(2),
  channel_distribution: pieOf(5),
  device_distribution: pieOf(4),
  page_stay: seriesOf(5, 1),
});

export const conversionView = z.object({
  summary: z.object({
    visit_to_cart_rate: percent(),
    cart_to_order_rate: percent(),
    order_to_pay_rate: percent(),
    overall_rate: percent(),
    abandoned_cart_rate: percent(),
  }),
  funnel: list(z.object({ step: z.string(), count: count(), rate: percent() }), 4),
  step_rates_trend: perDay(3),
});
