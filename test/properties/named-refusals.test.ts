import { defineErrors } from '@tradepost/core';
import { createApp, defineRoute, nothing, type Route } from '@tradepost/http';
import { takeUnnamedRefusals } from '@tradepost/testing/routes/named-refusals';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** A refusal that no document shows surprises a client: the suite must notice a handler that throws one. */
const errors = defineErrors({
  named: { code: 4001, en: 'Named', 'zh-CN': '已列出' },
  unnamed: { code: 4002, en: 'Not named: {why}', 'zh-CN': '未列出：{why}' },
});
/** Of another package, with the same name and code. */
const others = defineErrors({ named: { code: 4001, en: 'Named', 'zh-CN': '已列出' } });

let shop: Shop;
let token: string;
beforeAll(async () => {
  shop = await openShop();
  token = (await shop.shopper()).token;
});
afterAll(() => shop?.close());

function post(refuse: () => never, headers: Record<string, string> = {}): Promise<Response> {
  const route: Route = defineRoute({
    method: 'POST',
    path: '/api/v1/refusing',
    auth: 'shopper',
    tag: 'Test',
    summary: 'Refuses',
    response: nothing,
    refuses: [errors.named],
    handle: async () => refuse(),
  });
  const { runtime, tokens } = shop.server;
  const app = createApp({ routes: [route], resources: [], authenticate: tokens.verify, runtime });
  const request = new Request('http://shop/api/v1/refusing', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  return Promise.resolve(app.fetch(request));
}
const refusing = (error: Error) => () => {
  throw error;
};

test('a refusal that the route names, and one that every route can answer, are in order', async () => {
  await post(refusing(errors.named()));
  await post(refusing(errors.named()), { authorization: '' });
  await post(refusing(errors.named()), { 'idempotency-key': 'two words' });
  await post(refusing(new Error('a fault of our own')));
  expect(takeUnnamedRefusals()).toEqual([]);
});

test.each([
  ['without an Idempotency-Key', {}],
  ['with an Idempotency-Key', { 'idempotency-key': 'first' }],
])('another one is found, %s', async (_how, headers: Record<string, string>) => {
  expect(await (await post(refusing(errors.unnamed({ why: 'test' })), headers)).json()).toMatchObject({ code: 4002 });
  expect(takeUnnamedRefusals()).toEqual(['POST /api/v1/refusing does not name unnamed (4002 Not named: test)']);
});

test('a row of the same name in another table is another refusal', async () => {
  await post(refusing(others.named()));
  expect(takeUnnamedRefusals()).toHaveLength(1);
});

test('a route names a refusal once', () => {
  const twice = { refuses: [errors.named, others.named], handle: () => null, response: nothing } as const;
  const rest = { method: 'GET', path: '/twice', auth: 'public', tag: 'Test', summary: 'Twice' } as const;
  expect(() => defineRoute({ ...rest, ...twice })).toThrow('GET /twice: names the refusal named twice');
});
