import type { z } from 'zod';
import { percentOf, series } from '../charts.ts';
import { sumOf } from '../days/read-days.ts';
import { type Day, shortDay } from '../days/shop-days.ts';
import { countOpenCarts } from './cart-store.ts';
import { rateNames, stepNames } from './names.ts';
import { ordersByDay, periodOf, type ReportDeps, type ReportRequest } from './report-deps.ts';
import type { conversionView } from './schemas.ts';
import { visitsByDay } from './traffic.ts';

/** Visitors, carts (those that were ordered and those that were not), orders, and paid orders, by day. */
export async function conversionReport(
  deps: ReportDeps,
  { days, locale }: ReportRequest,
): Promise<z.input<typeof conversionView>> {
  const period = periodOf(deps, days);
  const [visits, orders, open] = await Promise.all([
    visitsByDay(deps, period),
    ordersByDay(deps, period),
    deps.has.orders ? countOpenCarts(deps.runtime.sql, period) : new Map<Day, number>(),
  ]);
  const rows = visits.map(({ day, count }, n) => ({
    day,
    visits: count('visitors'),
    open: open.get(day) ?? 0,
    carts: orders[n]!.orders + (open.get(day) ?? 0),
    orders: orders[n]!.orders,
    paid: orders[n]!.paid_orders,
  }));
  const total = (of: 'visits' | 'open' | 'carts' | 'orders' | 'paid') => sumOf(rows, (row) => row[of]);
  const steps = [total('visits'), total('carts'), total('orders'), total('paid')] as const;
  const [visited, carts, placed, paid] = steps;
  return {
    summary: {
      visit_to_cart_rate: percentOf(carts, visited),
      cart_to_order_rate: percentOf(placed, carts),
      order_to_pay_rate: percentOf(paid, placed),
      overall_rate: percentOf(paid, visited),
      abandoned_cart_rate: percentOf(total('open'), carts),
    },
    funnel: stepNames.map((name, n) => ({
      step: name[locale],
      count: steps[n]!,
      rate: n === 0 && visited > 0 ? 100 : percentOf(steps[n]!, visited),
    })),
    step_rates_trend: series(
      rows.map(({ day }) => shortDay(day)),
      [
        [rateNames[0]!, rows.map((row) => percentOf(row.carts, row.visits))],
        [rateNames[1]!, rows.map((row) => percentOf(row.orders, row.carts))],
        [rateNames[2]!, rows.map((row) => percentOf(row.paid, row.orders))],
      ],
      locale,
    ),
  };
}
