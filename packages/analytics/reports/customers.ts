import { toWire } from '@tradepost/core';
import type { z } from 'zod';
import { percentOf, pie, ratioOf, series } from '../charts.ts';
import { ordersName } from '../dashboard/names.ts';
import { addLists, sumOf } from '../days/read-days.ts';
import { selectBuyers } from './customer-store.ts';
import { allCustomersName, customerNames, customersName, frequencyBands, rfmNames, valueBands } from './names.ts';
import { isStored, ordersByDay, periodOf, type ReportDeps, type ReportRequest } from './report-deps.ts';
import type { customersView } from './schemas.ts';

/** The values at which a score is 100: those of the highest bands. */
const fullFrequency = 4;
const fullValue = 1_000;

const score = (value: number, full: number) => Math.round(Math.max(0, Math.min(1, value / full)) * 10_000) / 100;

/** Customers are shoppers with a sold order in the period. New ones have no sold order before it. */
export async function customersReport(
  deps: ReportDeps,
  { days, locale }: ReportRequest,
): Promise<z.input<typeof customersView>> {
  const period = periodOf(deps, days);
  const none = { frequency: [0, 0, 0, 0], new_buyers: 0, age_days: 0 };
  const [rows, buyers] = await Promise.all([
    ordersByDay(deps, period),
    deps.has.orders ? isStored(deps, period).then((stored) => selectBuyers(deps.runtime.sql, period, stored)) : none,
  ]);
  const [once = 0] = buyers.frequency;
  const total = sumOf(buyers.frequency, (n) => n);
  const returning = total - buyers.new_buyers;
  const sold = sumOf(rows, (row) => row.sold_orders);
  const value = ratioOf(toWire(sumOf(rows, (row) => row.sales)), total);
  const rfm =
    total === 0
      ? [0, 0, 0]
      : [score(1 - buyers.age_days / total / days, 1), score(sold / total, fullFrequency), score(value, fullValue)];
  return {
    summary: {
      total_customers: total,
      new_customer_count: buyers.new_buyers,
      returning_count: returning,
      repurchase_rate: percentOf(total - once, total),
      avg_customer_value: value,
    },
    new_vs_returning: pie(customerNames, [buyers.new_buyers, returning], locale),
    order_value_distribution: series(
      valueBands,
      [
        [
          ordersName,
          addLists(
            rows.map((row) => row.bands),
            5,
          ),
        ],
      ],
      locale,
    ),
    purchase_frequency: series(frequencyBands, [[customersName, buyers.frequency]], locale),
    rfm_radar: {
      indicator: rfmNames.map((name) => ({ name: name[locale], max: 100 as const })),
      data: [{ name: allCustomersName[locale], value: rfm }],
    },
  };
}
