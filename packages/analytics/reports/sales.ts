import { toWire } from '@tradepost/core';
import type { z } from 'zod';
import { percentOf, pie, ratioOf, series } from '../charts.ts';
import { ordersName, salesName } from '../dashboard/names.ts';
import { addLists, sumOf } from '../days/read-days.ts';
import { shortDay } from '../days/shop-days.ts';
import { payMethodNames } from './names.ts';
import { ordersByDay, periodOf, type ReportDeps, type ReportRequest } from './report-deps.ts';
import type { salesView } from './schemas.ts';

const hours = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));

/** Orders count on the day on which they were created. `gmv` is the amount of those that are sold. */
export async function salesReport(
  deps: ReportDeps,
  { days, locale }: ReportRequest,
): Promise<z.input<typeof salesView>> {
  const rows = await ordersByDay(deps, periodOf(deps, days));
  const total = (of: 'sales' | 'sold_orders' | 'paid_orders' | 'refunded_orders') => sumOf(rows, (row) => row[of]);
  const gmv = toWire(total('sales'));
  const categories = rows.map(({ day }) => shortDay(day));
  return {
    summary: {
      gmv,
      order_count: total('sold_orders'),
      avg_order_value: ratioOf(gmv, total('sold_orders')),
      refund_rate: percentOf(total('refunded_orders'), total('paid_orders')),
      refund_count: total('refunded_orders'),
    },
    revenue_trend: series(categories, [[salesName, rows.map((row) => toWire(row.sales))]], locale),
    order_trend: series(categories, [[ordersName, rows.map((row) => row.sold_orders)]], locale),
    pay_method_distribution: pie(
      payMethodNames,
      addLists(
        rows.map((row) => row.methods),
        3,
      ),
      locale,
    ),
    hourly_distribution: series(
      hours,
      [
        [
          ordersName,
          addLists(
            rows.map((row) => row.hours),
            24,
          ),
        ],
      ],
      locale,
    ),
  };
}
