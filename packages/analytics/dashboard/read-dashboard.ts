import { textsIn } from '@tradepost/catalog';
import { type Locale, toWire } from '@tradepost/core';
import type { DashboardCard, DashboardList, DashboardReader, DashboardRows } from '@tradepost/module';
import { type ConcurrencyLimit, type Runtime, timeZone } from '@tradepost/runtime';
import type { z } from 'zod';
import { changeOf, pie, ratioOf, series } from '../charts.ts';
import type { OrderDay } from '../days/day-store.ts';
import { periodDays, readDays, rowsOf, sumOf } from '../days/read-days.ts';
import { type Day, dayOf, daysBetween, monthsBefore, shortDay } from '../days/shop-days.ts';
import { hasWindow, type Period } from '../days/window-store.ts';
import { maxAnnouncements, maxHotProducts, maxStockWarnings } from '../limits.ts';
import { selectBestProducts } from '../reports/sku-store.ts';
import { type ChartQuery, chartRange } from './chart-range.ts';
import { countByStatus } from './dashboard-store.ts';
import { ordersName, salesName, statusNames } from './names.ts';
import type { dashboardView } from './schemas.ts';

export type DashboardDeps = {
  readonly runtime: Runtime;
  readonly cards: readonly DashboardCard[];
  readonly lists: readonly DashboardList[];
  /** Whether orders are there: without them all numbers of orders are 0. */
  readonly hasOrders: boolean;
  /** The reports and dashboards that this process makes at once. */
  readonly slots: ConcurrencyLimit;
};
type Request = {
  readonly query: ChartQuery;
  readonly locale: Locale;
  readonly reader: DashboardReader;
  readonly fileUrl: (path: string) => string;
};
type Dashboard = z.input<typeof dashboardView>;

const mayRead = ({ perms }: DashboardReader, permission: string | null) =>
  permission === null || perms.includes(permission) || perms.includes('*');

/** The numbers of the cards that the reader may see, by field. The others are absent. */
async function readCards({ runtime, cards }: DashboardDeps, reader: DashboardReader) {
  const seen = cards.filter(({ permission }) => mayRead(reader, permission));
  const counts = await Promise.all(seen.map((card) => card.count(runtime.sql, reader)));
  return new Map(seen.map(({ field }, n) => [field, counts[n]!]));
}

/** The rows of one list, or none when no package has the list or the reader may not see it. */
async function readList<F extends keyof DashboardRows>(
  { runtime, lists }: DashboardDeps,
  field: F,
  { reader, locale }: Request,
  limit: number,
): Promise<DashboardRows[F][]> {
  // The type of the entry follows from its field.
  const found = lists.find((one) => one.field === field) as unknown as DashboardList<F> | undefined;
  if (!found || !mayRead(reader, found.permission)) return [];
  const rows = (await found.select(runtime, { reader, locale, limit })) as readonly DashboardRows[F][];
  return rows.slice(0, limit);
}

/** The days of the month until today, and the same days of an earlier month. */
const monthToDate = (today: Day): Day[] => daysBetween(`${today.slice(0, 8)}01`, today);
function monthEarlier(today: Day, months: number): Day[] {
  const last = monthsBefore(today, months);
  return daysBetween(`${last.slice(0, 8)}01`, last);
}

async function readHotProducts({ runtime, hasOrders }: DashboardDeps, period: Period, { locale, fileUrl }: Request) {
  if (!hasOrders) return [];
  const { sql } = runtime;
  const isStored = await hasWindow(sql, period);
  const best = await selectBestProducts(sql, period, { isStored, locale, limit: maxHotProducts });
  return best.map(({ id, title, translations, cover, qty }) => ({
    id,
    title: textsIn({ title: title ?? `#${id}`, subtitle: '', translations: translations ?? {} }, locale).title,
    cover: fileUrl(cover ?? ''),
    sold_qty: qty,
  }));
}

const salesOf = (rows: readonly OrderDay[]) => rows.map(({ sales }) => toWire(sales));
const ordersOf = (rows: readonly OrderDay[]) => rows.map(({ orders }) => orders);

/** The dashboard for both clients. Numbers of packages that are switched off are 0, and their lists and charts are empty. */
export async function readDashboard(deps: DashboardDeps, request: Request): Promise<Dashboard> {
  const { runtime, hasOrders } = deps;
  const { sql, settings } = runtime;
  const { query, locale, reader } = request;
  const [now, zone] = [runtime.now(), settings.get(timeZone)];
  const today = dayOf(now, zone);
  const chart = chartRange(query, today);
  const month = periodDays(30, today);
  const spans = {
    chart: daysBetween(chart.from, chart.to),
    now: monthToDate(today),
    mom: monthEarlier(today, 1),
    yoy: monthEarlier(today, 12),
  };
  const days = [...month, ...Object.values(spans).flat()];
  const [known, cards, statuses, hot_products, announcements, stock_warning_list] = await Promise.all([
    hasOrders ? readDays(sql, { zone, days, now }) : new Map<Day, OrderDay>(),
    readCards(deps, reader),
    hasOrders ? countByStatus(sql) : new Map<number, number>(),
    readHotProducts(deps, { zone, today, days: 30 }, request),
    readList(deps, 'announcements', request, maxAnnouncements),
    readList(deps, 'stock_warning_list', request, maxStockWarnings),
  ]);
  const card = (field: string) => cards.get(field) ?? 0;
  const rows = (of: readonly Day[]) => rowsOf(known, of);
  const [todays] = rows([today]);
  const { orders, sales } = todays!;
  const sums = (of: readonly Day[]) => ({
    sales: sumOf(rows(of), (row) => row.sales),
    orders: sumOf(rows(of), (row) => row.orders),
  });
  const [current, mom, yoy] = [sums(spans.now), sums(spans.mom), sums(spans.yoy)];
  /** Charts without orders have no days. */
  const shown = (of: readonly Day[]) => (hasOrders ? of : []);
  const line = (of: readonly Day[], isSales: boolean) =>
    series(of.map(shortDay), [isSales ? [salesName, salesOf(rows(of))] : [ordersName, ordersOf(rows(of))]], locale);
  return {
    today_orders: orders,
    today_sales: toWire(sales),
    today_avg_price: ratioOf(toWire(sales), orders),
    pending_ship: card('pending_ship'),
    pending_refunds: card('pending_refunds'),
    pending_after_sale: card('pending_refunds'),
    online_sessions: card('online_sessions'),
    unread_message: card('unread_message'),
    stock_warning: card('stock_warning'),
    pending_withdrawals: card('pending_withdrawals'),
    pending_exchanges: card('pending_exchanges'),
    compare: {
      revenue_yoy: changeOf(current.sales, yoy.sales),
      revenue_mom: changeOf(current.sales, mom.sales),
      order_yoy: changeOf(current.orders, yoy.orders),
      order_mom: changeOf(current.orders, mom.orders),
    },
    sales_trend: rows(shown(spans.chart)).map((row) => ({
      date: row.day,
      orders: row.orders,
      sales: toWire(row.sales),
    })),
    trend: {
      revenue_7d: line(shown(month.slice(-7)), true),
      revenue_30d: line(shown(month), true),
      order_7d: line(shown(month.slice(-7)), false),
    },
    status_distribution: pie(
      statusNames.map(([, name]) => name),
      statusNames.map(([status]) => statuses.get(status) ?? 0),
      locale,
    ),
    ...{ hot_products, announcements, stock_warning_list },
  };
}
