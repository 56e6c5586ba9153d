import { randomBytes } from 'node:crypto';
import { signedHeaders } from '@tradepost/orders';
import type { Answer } from '../client.ts';
import { insertProduct, type Shop } from '../shop.ts';

export const paySecret = 'test-secret-of-the-gateway';

type Notice = {
  payment_no: string;
  trade_no?: string;
  amount: number;
  currency?: string;
  status?: string;
  paid_at?: string;
};
/** Overrides for parts of the signed message. */
type NoticeOptions = { secret?: string; timestamp?: string; nonce?: string; body?: string | Uint8Array };

export const unixNow = () => Math.trunc(Date.now() / 1000);
export const newNonce = () => randomBytes(12).toString('hex');

/** Sends a signed notice as the payment provider does. */
export function notify(shop: Shop, notice: Notice, options: NoticeOptions = {}): Promise<Answer> {
  const body =
    options.body ??
    JSON.stringify({ provider: 'sandbox', trade_no: 'T1', currency: 'CNY', status: 'succeeded', ...notice });
  const message = { timestamp: options.timestamp ?? String(unixNow()), nonce: options.nonce ?? newNonce(), body };
  const headers = { 'content-type': 'application/json', ...signedHeaders(options.secret ?? paySecret, message) };
  return shop.call('POST', '/api/pay/callback', { rawBody: body, headers });
}

type Purchase = { token: string; user_id: number; order_id: number; order_no: string; total: number };
export type OpenedPayment = Purchase & { payment_no: string };

/** Creates a shopper with one unpaid order. */
export async function buyOne(shop: Shop, options: { price?: number } = {}): Promise<Purchase> {
  const { sku_ids } = await insertProduct(shop.database, { price: options.price ?? 1290, stocks: [10] });
  const { token, id, address_id } = await shop.shopper();
  const body = { address_id, items: [{ sku_id: sku_ids[0] }] };
  const { data } = await shop.call('POST', '/api/v1/orders', { token, body });
  return { token, user_id: id, order_id: data.id, order_no: data.order_no, total: data.total_amount };
}

/** Creates a shopper with one unpaid order and an open payment of the provider `sandbox`. */
export async function openPayment(shop: Shop, options: { price?: number } = {}): Promise<OpenedPayment> {
  const purchase = await buyOne(shop, options);
  const { token, order_id } = purchase;
  const answer = await shop.call('POST', '/api/pay/create', { token, body: { order_id, provider: 'sandbox' } });
  if (answer.code !== 0) throw new Error(`pay/create: ${answer.message}`);
  return { ...purchase, payment_no: answer.data.payment_no };
}

/** All rows about the money of an order. */
export async function moneyOf({ database: { sql } }: Shop, orderId: number) {
  const [order] =
    await sql`select status, inventory_status, paid_at is not null as paid from orders.orders where id = ${orderId}`;
  const payments = await sql<{ status: string; trade_no: string | null; amount: number }[]>`
    select status, trade_no, amount from orders.payments where order_id = ${orderId} order by id`;
  const refunds = await sql<{ status: string; reason: string; amount: number }[]>`
    select status, reason, amount from orders.refunds where order_id = ${orderId} order by id`;
  const [history] = await sql`
    select count(*)::int as n from orders.order_history where order_id = ${orderId} and trigger = 'pay'`;
  return {
    status: order!.status as number,
    inventory_status: order!.inventory_status as string,
    payments: payments.map((row) => ({ ...row })),
    refunds: refunds.map((row) => ({ ...row })),
    confirms: history!.n as number,
  };
}

/** Payments whose status does not agree with their refunds, one line each. The audits of the product check the rest. */
export async function moneyFaults({ database: { sql } }: Shop): Promise<string[]> {
  const rows = await sql`
    select p.id, p.order_id, p.status, p.amount, array_agg(r.status) as refunds, sum(r.amount)::bigint as refunded
    from orders.payments p left join orders.refunds r on r.payment_id = p.id
    group by p.id
    having case p.status
      when 'refunding' then count(r.id) <> 1 or bool_or(r.status = 'succeeded') or sum(r.amount) <> p.amount
      when 'refunded' then count(r.id) = 0 or bool_or(r.status <> 'succeeded') or sum(r.amount) <> p.amount
        or (count(r.id) > 1 and bool_or(r.kind = 'surplus'))
      when 'succeeded' then bool_or(r.kind = 'surplus') or sum(r.amount) > p.amount
      else count(r.id) > 0 end`;
  return rows.map((row) => JSON.stringify(row));
}
