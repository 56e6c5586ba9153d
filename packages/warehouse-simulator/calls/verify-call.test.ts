import { externalSignature } from '@tradepost/external-wms';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openTested, type Tested, unixNow } from '../test-shop.ts';
import { openCallVerifier } from './verify-call.ts';

let tested: Tested;
beforeAll(async () => {
  tested = await openTested({ signatureTtl: 60 });
});
afterAll(() => tested.close());

const items = [[1, 1]] as const;

describe('a call that does not come from the shop is refused with 4002 and changes nothing', () => {
  const cases: [string, Parameters<Tested['reserve']>[2], string][] = [
    ['a wrong secret', { secret: 'other' }, 'X-Sign'],
    ['no signature', { headers: { 'x-sign': '' } }, 'X-Sign'],
    ['another key', { headers: { 'x-app-key': 'other' } }, 'X-App-Key'],
    ['an old timestamp', { headers: { 'x-timestamp': String(unixNow() - 65) } }, 'X-Timestamp'],
    ['a future timestamp', { headers: { 'x-timestamp': String(unixNow() + 65) } }, 'X-Timestamp'],
    ['milliseconds', { headers: { 'x-timestamp': String(Date.now()) } }, 'X-Timestamp'],
    ['no nonce', { headers: { 'x-nonce': '' } }, 'X-Nonce'],
    ['another request mode', { headers: { 'x-request-mode': 'special' } }, 'X-Request-Mode'],
  ];
  test.each(cases)('%s', async (_name, options, named) => {
    const answer = await tested.reserve('refused', items, options);
    expect(answer).toMatchObject({ status: 200, code: 4002 });
    expect(answer.message).toContain(named);
    expect(tested.state('refused')).toBeUndefined();
  });

  test('a body other than the signed one', async () => {
    const { simulator, call } = tested;
    const sent: Record<string, string> = { 'x-nonce': 'swap', 'x-timestamp': String(unixNow()) };
    const parts = { app_key: 'demo-key', timestamp: sent['x-timestamp']!, nonce: 'swap', body: '{"sku_ids":[1]}' };
    sent['x-sign'] = externalSignature(parts, 'demo-secret');
    expect((await call('/stock/sellable', null, { raw: '{"sku_ids":[2]}', headers: sent })).code).toBe(4002);
    // The call with the wrong signature did not use up the nonce.
    expect((await call('/stock/sellable', null, { raw: parts.body, headers: sent })).code).toBe(0);
    expect(simulator.counters().refusals['4002']).toBeGreaterThan(0);
  });

  test('a nonce that was used before', async () => {
    const headers = { 'x-nonce': 'once' };
    expect((await tested.reserve('N', items, { headers })).code).toBe(0);
    expect(await tested.reserve('N', items, { headers })).toMatchObject({
      code: 4002,
      message: 'X-Nonce: used before',
    });
  });
});

test('a nonce is remembered while its timestamp is valid', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000_000 });
  try {
    const verify = openCallVerifier({ appKey: 'k', appSecret: 's', signatureTtl: 60 });
    const parts = { app_key: 'k', timestamp: '1000165', nonce: 'n', body: '{}' };
    const headers = {
      ...{ 'x-app-key': 'k', 'x-timestamp': parts.timestamp, 'x-nonce': 'n', 'x-request-mode': 'generic' },
      'x-sign': externalSignature(parts, 's'),
    };
    vi.setSystemTime(1_000_110_000);
    expect(verify(headers, '{}')).toBeNull();
    vi.setSystemTime(1_000_224_000);
    expect(verify(headers, '{}')).toBe('X-Nonce: used before');
    vi.setSystemTime(1_000_226_000);
    expect(verify(headers, '{}')).toContain('X-Timestamp');
  } finally {
    vi.useRealTimers();
  }
});

test('timestamps within the window are accepted in both directions', async () => {
  for (const shift of [-50, 50]) {
    const headers = { 'x-timestamp': String(unixNow() + shift) };
    expect((await tested.reserve('T', items, { headers })).code).toBe(0);
  }
});

describe('a body that does not follow the protocol is refused with 4001 and its field', () => {
  const order = { biz_type: 'order', biz_no: 'M' };
  const one = [{ sku_id: 1, qty: 1 }];
  const cases: [string, unknown, string][] = [
    ['/reserve', { ...order }, 'items'],
    ['/reserve', { ...order, items: [] }, 'items'],
    ['/reserve', { ...order, items: [{ SkuID: 1, Qty: 1 }] }, 'items.0.sku_id'],
    ['/reserve', { ...order, items: [{ sku_id: 1, qty: 0 }] }, 'items.0.qty'],
    ['/reserve', { ...order, items: [{ sku_id: 1, qty: 1.5 }] }, 'items.0.qty'],
    ['/reserve', { ...order, items: [{ sku_id: '1', qty: 1 }] }, 'items.0.sku_id'],
    ['/reserve', { biz_no: 'M', items: one }, 'biz_type'],
    ['/confirm', { biz_type: 'order' }, 'biz_no'],
    ['/release', { ...order }, 'reason'],
    ['/deduct', { ...order }, 'items'],
    ['/restore', { ...order, items: one }, 'reason'],
    ['/sync-sku', { ...order, sku_id: 1, stock: -1 }, 'stock'],
    ['/sync-sku', { source: 'shop', sku_id: 1, stock: 1 }, 'biz_type'],
    ['/stock/sellable', { sku_ids: ['1'] }, 'sku_ids.0'],
    ['/confirm', [], 'body'],
  ];
  test.each(cases)('%s %j', async (path, body, field) => {
    const answer = await tested.call(path, body);
    expect(answer).toMatchObject({ status: 200, code: 4001 });
    expect(answer.message).toContain(`${field}: `);
  });

  test('truncated JSON and a giant body', async () => {
    expect((await tested.call('/confirm', null, { raw: '{"biz_type":"or' })).message).toBe('body: not JSON');
    expect((await tested.call('/confirm', { pad: 'x'.repeat(2 ** 20) })).message).toBe('body: too large');
  });

  test('an unknown path and another method get an HTTP error', async () => {
    expect((await tested.call('/reserved', {})).status).toBe(404);
    expect((await fetch(`${tested.simulator.url}/reserve`)).status).toBe(405);
  });
});
