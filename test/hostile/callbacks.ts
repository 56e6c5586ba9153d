import { createHash, randomUUID } from 'node:crypto';
import { signedHeaders } from '@tradepost/orders';
import type { Attack, AttackRun } from './attack.ts';
import { type Asked, type Attacker, faultOfReply, openAttacker } from './attacker.ts';
import { inParallel, times } from './sockets.ts';
import { paymentSecret, warehouseApp } from './test-servers.ts';

const unixNow = (offset = 0) => String(Math.floor(Date.now() / 1000) + offset);

type Forged = { name: string; asked: Asked };

function forgedPayments(paymentNo: string, amount: number): Forged[] {
  const body = JSON.stringify({
    ...{ provider: 'sandbox', payment_no: paymentNo, trade_no: `T-${paymentNo}` },
    ...{ amount, currency: 'CNY', status: 'succeeded' },
  });
  const signed = (over: { secret?: string; timestamp?: string; signedBody?: string; body?: string } = {}): Asked => {
    const { secret = paymentSecret, timestamp = unixNow(), signedBody = body } = over;
    const headers = signedHeaders(secret, { timestamp, nonce: randomUUID(), body: signedBody });
    return { body: over.body ?? body, headers };
  };
  const half = JSON.stringify({ ...JSON.parse(body), amount: amount / 2 });
  return [
    { name: 'no signature', asked: { body } },
    { name: 'an empty signature', asked: { ...signed(), headers: { 'x-pay-signature': '' } } },
    { name: 'another secret', asked: signed({ secret: 'guessed' }) },
    { name: 'an empty secret', asked: signed({ secret: '' }) },
    { name: 'a signature of another body', asked: signed({ signedBody: '{}' }) },
    { name: 'a stale time', asked: signed({ timestamp: unixNow(-86_400) }) },
    { name: 'a time in the future', asked: signed({ timestamp: unixNow(86_400) }) },
    { name: 'a time that is not a number', asked: signed({ timestamp: 'NaN' }) },
    { name: 'another amount', asked: signed({ signedBody: half, body: half }) },
    { name: '900 kB', asked: signed({ body: `${body}${' '.repeat(900_000)}` }) },
    { name: '8 MB', asked: { body: ' '.repeat(8_000_000) } },
  ];
}

function forgedWarehouse(): Forged[] {
  const inner = JSON.stringify({ request_id: 'order:1:reserve', callback_id: randomUUID(), status: 'success' });
  const message = (secret: string, timestamp = unixNow()) => {
    const nonce = randomUUID();
    const sign = createHash('sha256')
      .update([warehouseApp.key, timestamp, nonce, inner, secret].join('\n'))
      .digest('hex');
    return { app_key: warehouseApp.key, timestamp, nonce, sign, body: inner };
  };
  const unsigned = { ...message(''), sign: '' };
  return [
    { name: 'no signature', asked: { json: unsigned } },
    { name: 'another secret', asked: { json: message('guessed') } },
    { name: 'an empty secret', asked: { json: message('') } },
    { name: 'a stale time', asked: { json: message(warehouseApp.secret, unixNow(-86_400)) } },
    { name: 'another app_key', asked: { json: { ...message(warehouseApp.secret), app_key: 'x' } } },
    {
      name: 'a body of 900 kB',
      asked: { json: { ...message(warehouseApp.secret), body: inner + ' '.repeat(900_000) } },
    },
  ];
}

async function flood(attackRun: AttackRun, attacker: Attacker, path: string, forged: readonly Forged[], each: number) {
  const all = times(each).flatMap(() => forged);
  await inParallel(all, 60, async ({ name, asked }) => {
    const reply = await attacker.ask(attackRun.target.api.url, path, { method: 'POST', ...asked });
    attackRun.sent(1);
    const fault = faultOfReply(reply);
    if (fault) attackRun.fault(`${path} with ${name}: ${fault}`);
    else if (reply.code === 0) attackRun.fault(`${path} with ${name}: was accepted`);
  });
}

async function openPayment(attackRun: AttackRun, attacker: Attacker) {
  const { servers, target } = attackRun;
  const [{ token, address_id } = { token: '', address_id: 0 }] = await servers.shoppers(1);
  const post = async (path: string, json: unknown) => {
    const { text } = await attacker.ask(target.api.url, path, { token, json });
    const { code, data } = JSON.parse(text) as { code: number; data: Record<string, never> };
    if (code !== 0) throw new Error(`${path}: ${text}`);
    return data;
  };
  const order = await post('/api/v1/orders', { address_id, items: [{ sku_id: servers.skuIds[0] }] });
  const payment = await post('/api/pay/create', { order_id: order.id, provider: 'sandbox' });
  return { orderId: Number(order.id), amount: Number(order.total_amount), paymentNo: String(payment.payment_no) };
}

/** Only a signed notice of the provider changes a payment, once. Only a signed callback of the warehouse changes stock. */
export const callbacks: Attack = {
  name: 'callbacks',
  about: 'payment and warehouse callbacks unsigned, forged, stale, huge and replayed',
  transports: 'any',
  async run(attackRun) {
    const { servers, target } = attackRun;
    const attacker = openAttacker();
    const { orderId, amount, paymentNo } = await openPayment(attackRun, attacker);
    const statusOf = async () => {
      const [row] = await servers.sql<{ status: number; moves: number }[]>`
        select status, (select count(*)::int from orders.order_history where order_id = o.id and trigger = 'pay') as moves
        from orders.orders o where id = ${orderId}`;
      return row!;
    };
    const each = attackRun.of({ short: 5, long: 60 });
    await flood(attackRun, attacker, '/api/pay/callback', forgedPayments(paymentNo, amount), each);
    await flood(attackRun, attacker, '/admin/api/external-wms/callback', forgedWarehouse(), each);
    if ((await statusOf()).status !== 1) attackRun.fault(`a forged notice moved order ${orderId}`);

    const body = JSON.stringify({
      ...{ provider: 'sandbox', payment_no: paymentNo, trade_no: `T-${paymentNo}` },
      ...{ amount, currency: 'CNY', status: 'succeeded' },
    });
    const headers = {
      'content-type': 'application/json',
      ...signedHeaders(paymentSecret, { timestamp: unixNow(), nonce: randomUUID(), body }),
    };
    await inParallel(times(40), 40, async () => {
      const reply = await attacker.ask(target.api.url, '/api/pay/callback', { body, headers });
      attackRun.sent(1);
      const fault = faultOfReply(reply);
      if (fault) attackRun.fault(`a notice 40 times: ${fault}`);
    });
    const { status, moves } = await statusOf();
    if (status !== 2 || moves !== 1) attackRun.fault(`a notice 40 times: status ${status}, paid ${moves} times`);
    attacker.close();
  },
};
