import { isoInZone } from '@tradepost/core';
import type { Sql } from '@tradepost/postgres';

type Order = {
  id: number;
  user_id: number;
  status: number;
  payment_method: string;
  total_amount: number;
  created_at: Date;
  paid_at: Date | null;
  refunded: boolean;
  lines: { sku_id: number; qty: number; payable_amount: number }[];
};

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
const dayMs = 86_400_000;
const add = (day: string, n: number) => new Date(Date.parse(day) + n * dayMs).toISOString().slice(0, 10);

/** The reports, counted order by order in plain code. Amounts are in minor units. */
export async function plainReports(sql: Sql, zone: string, now: Date) {
  const orders = await sql<Order[]>`
    select o.*, exists (select from orders.refunds r where r.order_id = o.id and r.status = 'succeeded' and r.kind = 'after_sale')
             as refunded,
           coalesce((select json_agg(i) from orders.order_items i where i.order_id = o.id), '[]') as lines
    from orders.orders o order by o.id`;
  const today = isoInZone(now, zone).slice(0, 10);
  const local = (order: Order) => isoInZone(order.created_at, zone);
  const isSold = ({ status }: Order) => status >= 2 && status <= 5;

  return {
    today,
    dayOf: (day: string) => {
      const own = orders.filter((order) => local(order).startsWith(day));
      return { orders: own.length, sales: sum(own.filter(isSold).map((order) => order.total_amount)) };
    },
    period(days: number) {
      const first = add(today, 1 - days);
      const inside = orders.filter((order) => local(order).slice(0, 10) >= first && local(order).slice(0, 10) <= today);
      const sold = inside.filter(isSold);
      const count = (of: readonly Order[], key: (order: Order) => string | number) =>
        of.reduce(
          (map, order) => map.set(key(order), (map.get(key(order)) ?? 0) + 1),
          new Map<string | number, number>(),
        );
      const buyers = Map.groupBy(sold, (order) => order.user_id);
      const earlier = new Set(
        orders.filter((order) => isSold(order) && local(order).slice(0, 10) < first).map((order) => order.user_id),
      );
      const skus = new Map<number, { qty: number; revenue: number }>();
      for (const { sku_id, qty, payable_amount } of sold.flatMap(({ lines }) => lines)) {
        const known = skus.get(sku_id) ?? { qty: 0, revenue: 0 };
        skus.set(sku_id, { qty: known.qty + qty, revenue: known.revenue + payable_amount });
      }
      const sizes = [...buyers.values()].map((own) => own.length);
      const ages = [...buyers.values()].map((own) => {
        const last = own
          .map((order) => local(order).slice(0, 10))
          .sort()
          .at(-1)!;
        return (Date.parse(today) - Date.parse(last)) / dayMs;
      });
      const bands = [5_000, 10_000, 30_000, 100_000, Number.POSITIVE_INFINITY];
      return {
        orders: inside.length,
        sold: sold.length,
        sales: sum(sold.map((order) => order.total_amount)),
        paid: inside.filter((order) => order.paid_at !== null).length,
        refunded: inside.filter((order) => order.refunded).length,
        methods: ['wechat', 'alipay', 'balance'].map((method) => count(sold, (o) => o.payment_method).get(method) ?? 0),
        hours: Array.from({ length: 24 }, (_, h) => count(inside, (o) => Number(local(o).slice(11, 13))).get(h) ?? 0),
        bands: bands.map(
          (high, n) => sold.filter(({ total_amount: t }) => t < high && t >= (n === 0 ? 0 : bands[n - 1]!)).length,
        ),
        frequency: [1, 2, 3]
          .map((n) => sizes.filter((size) => size === n).length)
          .concat(sizes.filter((s) => s >= 4).length),
        newBuyers: [...buyers.keys()].filter((user) => !earlier.has(user)).length,
        meanAge: sizes.length === 0 ? 0 : sum(ages) / sizes.length,
        skus: [...skus]
          .map(([sku_id, sold]) => ({ sku_id, ...sold }))
          .sort((a, b) => b.qty - a.qty || b.revenue - a.revenue || a.sku_id - b.sku_id),
      };
    },
  };
}
