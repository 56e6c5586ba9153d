import { modules } from '@tradepost/app';
import { declaredBy, findingsOf, type Module, settingsIn, staticEntriesOf } from '@tradepost/module';
import { type ModuleShop, openModuleShop } from '@tradepost/testing/module-shop';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { insertProduct } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentProviderEntry, paymentProviders } from '../../index.ts';
import { ownProviders } from './own-providers.ts';

/** A module adds a payment provider through `paymentProviders`. Orders are paid and refunded through it. */
const key = 'key-of-the-bank';
const bank: PaymentProviderEntry = {
  name: 'bank',
  kind: 'redirect',
  open: () => ({
    ready() {},
    payUrl: ({ payment_no }, site) => `https://bank.example/pay/${payment_no}?from=${encodeURIComponent(site)}`,
    verify(headers) {
      if (headers.get('x-bank-key') !== key) throw new Error('not from the bank');
      return { nonce: headers.get('x-bank-nonce') ?? '' };
    },
    refund: async ({ refund_no }) => ({ status: 'succeeded', provider_ref: `BANK-${refund_no}` }),
  }),
};
const bankModule: Module = { name: 'bank', needs: ['orders'], entries: [paymentProviders.add(bank)] };

let database: TestDatabase;
let shop: ModuleShop;
beforeAll(async () => {
  database = await cloneDatabase();
  shop = await openModuleShop(database, [...modules, bankModule], { 'pay.provider': 'bank' });
});
afterAll(async () => {
  expect(await shop.brokenAudits()).toEqual([]);
  await shop.close();
  await database.drop();
});

async function buy() {
  const { sku_ids } = await insertProduct(database, { price: 1290, stocks: [10] });
  const { token, address_id } = await shop.shopper();
  const body = { address_id, items: [{ sku_id: sku_ids[0] }] };
  const { data } = await shop.call('POST', '/api/v1/orders', { token, body });
  return { token, order_id: data.id as number };
}
let nonces = 0;
function notify(payment_no: string, more: Readonly<Record<string, unknown>> = {}, given = key) {
  nonces += 1;
  const body = { provider: 'bank', payment_no, trade_no: `B${nonces}`, amount: 12.9, currency: 'CNY', ...more };
  const headers = { 'x-bank-key': given, 'x-bank-nonce': `nonce-${nonces}` };
  return shop.call('POST', '/api/pay/callback', { body: { status: 'succeeded', ...body }, headers });
}

test('a shopper is sent to the provider of another module, and its notice pays the order', async () => {
  const { token, order_id } = await buy();
  // The name is a value of the setting pay.provider.
  const opened = await shop.call('POST', '/api/pay/create', { token, body: { order_id } });
  expect([opened.code, opened.data.provider]).toEqual([0, 'bank']);
  const { payment_no, pay_url } = opened.data;
  expect(pay_url).toBe(`https://bank.example/pay/${payment_no}?from=${encodeURIComponent(shop.url)}`);
  const forged = await notify(payment_no, {}, 'another key');
  expect(forged.code).not.toBe(0);
  expect((await notify(payment_no)).data).toEqual({ received: true, payment_no, status: 'succeeded' });
  const { data } = await shop.call('GET', `/api/pay/status?order_id=${order_id}`, { token });
  expect([data.provider, data.status, data.order_status]).toEqual(['bank', 'succeeded', 2]);
});

test('late money is refunded through the same provider', async () => {
  const { token, order_id } = await buy();
  const { data } = await shop.call('POST', '/api/pay/create', { token, body: { order_id, provider: 'bank' } });
  expect((await shop.call('POST', `/api/v1/orders/${order_id}/cancel`, { token })).code).toBe(0);
  expect((await notify(data.payment_no)).data.status).toBe('refunding');
  const [refund] = await database.sql`select provider, status, reason from orders.refunds where order_id = ${order_id}`;
  expect({ ...refund }).toEqual({ provider: 'bank', status: 'pending', reason: 'order_cancelled' });
});

test('its name is in the API document and a value of pay.provider; an unknown name is refused', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: a JSON document
  const document: any = await (await fetch(`${shop.url}/openapi.json`)).json();
  const bodyOf = (path: string) => {
    const { schema } = document.paths[path].post.requestBody.content['application/json'];
    return schema.$ref ? document.components.schemas[schema.$ref.split('/').pop()] : schema;
  };
  const names = [...ownProviders, ...staticEntriesOf([...modules, bankModule])(paymentProviders)].map(
    ({ name }) => name,
  );
  expect(names).toEqual(expect.arrayContaining(['sandbox', 'instant', 'wechat', 'alipay', 'stripe', 'bank']));
  expect(bodyOf('/api/pay/create').properties.provider.enum).toEqual([...new Set(names)]);
  expect(bodyOf('/api/pay/callback').properties.provider.enum).toEqual(['sandbox', 'bank']);
  const { settings } = shop.runtime;
  const row = settings.list().find((one) => one.key === 'pay.provider');
  expect(row?.about).toContain(new Intl.ListFormat('en', { type: 'disjunction' }).format(new Set(names)));
  await expect(settings.set('pay.provider', 'cash')).rejects.toThrow(/pay\.provider.*sandbox.*instant.*bank/);
  const { token, order_id } = await buy();
  const refused = await shop.call('POST', '/api/pay/create', { token, body: { order_id, provider: 'cash' } });
  expect(refused.code).toBe(400);
});

test('payments are refused while its module is switched off, and the doctor reports the setting', async () => {
  const all = [...modules, bankModule];
  const without = await openModuleShop(database, modules, {}, all);
  try {
    const { token, order_id } = await buy();
    const create = (more: object) => without.call('POST', '/api/pay/create', { token, body: { order_id, ...more } });
    expect(await create({})).toMatchObject({
      code: 500,
      message: 'The setting pay.provider names the payment provider bank, whose module is switched off',
    });
    expect((await create({ provider: 'bank' })).code).toBe(400);
    expect((await create({ provider: 'instant' })).code).toBe(0);
  } finally {
    await without.close();
  }
  const check = declaredBy(modules, 'doctorChecks', all).find(({ name }) => name === 'payment provider')!;
  const found = (name: string) => {
    const facts = {
      settings: settingsIn({ settings: { 'pay.provider': name } }, [], declaredBy(modules, 'settings', all)),
    };
    const { findings, ...report } = findingsOf('payments');
    check.check(facts as never, { findings, ...report });
    return findings;
  };
  expect(found('bank')).toMatchObject([{ level: 'error', what: expect.stringContaining('pay.provider names bank') }]);
  expect(found('sandbox')).toEqual([]);
});
