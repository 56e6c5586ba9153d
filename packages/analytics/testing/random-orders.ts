import type { Sql } from '@tradepost/postgres';

/** Random numbers that are the same in each run. */
export function randomOf(seed: number) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return {
    below: (max: number) => Math.floor(next() * max),
    pick: <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!,
  };
}
export type Random = ReturnType<typeof randomOf>;

const hour = 3_600_000;

/** Inserts orders of random times, states and amounts, with lines and refunds. Returns their ids. */
export async function insertRandomOrders(
  sql: Sql,
  random: Random,
  of: { count: number; days: number; skus: readonly { id: number; product_id: number }[]; now: Date },
): Promise<number[]> {
  const rows = Array.from({ length: of.count }, (_, n) => {
    const created_at = new Date(of.now.getTime() - random.below(of.days * 24) * hour - random.below(hour));
    const status = random.pick([1, 2, 3, 4, 5, 6, 6]);
    const isPaid = (status > 1 && status < 6) || (status === 6 && random.below(3) === 0);
    const sku = random.pick(of.skus);
    const [price, qty] = [random.pick([900, 4_900, 9_900, 29_000, 60_000]), 1 + random.below(3)];
    return {
      ...{ n, status, qty, price, created_at, sku_id: sku.id, product_id: sku.product_id, total: price * qty },
      user_id: 1 + random.below(of.count / 4),
      method: random.pick(['wechat', 'wechat', 'alipay', 'balance']),
      paid_at: isPaid ? created_at : null,
      refund: isPaid && random.below(6) === 0 ? random.pick(['succeeded', 'pending']) : null,
    };
  });
  const inserted = await sql<{ id: number }[]>`
    with given as (
      select nextval('orders.orders_id_seq') as id, g.* from json_to_recordset(${JSON.stringify(rows)}::text::json) as g (n int,
        status smallint, qty int, price bigint, created_at timestamptz, sku_id bigint, product_id bigint, total bigint,
        user_id bigint, method text, paid_at timestamptz, refund text)
    ), placed as (
      insert into orders.orders (id, order_no, user_id, status, payment_method, goods_amount, total_amount, address_snapshot,
        expires_at, paid_at, created_at)
      select id, 'R' || id, user_id, status, method, total, total, '{}', created_at, paid_at, created_at from given returning id
    ), lines as (
      insert into orders.order_items (order_id, product_id, sku_id, title, price, qty, payable_amount)
      select id, product_id, sku_id, 'Mug', price, qty, total from given
    ), paid as (
      insert into orders.payments (order_id, provider, method, amount, status, paid_at)
      select id, 'instant', method, total, 'succeeded', paid_at from given where paid_at is not null returning id, order_id
    ), refunded as (
      insert into orders.refunds (refund_no, payment_id, order_id, provider, kind, reason, amount, currency, status, finished_at)
      select 'RF' || g.id, paid.id, g.id, 'instant', 'after_sale', 'after_sale:' || g.id, g.total, 'CNY', g.refund,
             case g.refund when 'succeeded' then g.created_at end
      from given g join paid on paid.order_id = g.id where g.refund is not null
    )
    select id from placed order by id`;
  return inserted.map(({ id }) => id);
}
