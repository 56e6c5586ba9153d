import { defineErrors } from '@tradepost/core';
import { createApp, defineRoute, nothing, type Route } from '@tradepost/http';
import { takeUnnamedRefusals } from '@tradepost/testing/routes/unnamed-refusals';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Clients do not expect a refusal that the API document does not show. The suite must find a handler that throws one. */
const errors = defineErrors({
  named: { code: 4001, en: 'Named', 'zh-CN': '已列出' },
  unnamed: { code: 4002, en: 'Not named: {why}', 'zh-CN': '未列出：{why}' },
});
/** The refusals of another package, with the same name and code. */
const otherErrors = defineErrors({ named: { code: 4001, en: 'Named', 'zh-CN': '已列出' } });

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

test('a refusal that the route names, or that every route can answer, is not reported', async () => {
  await post(refusing(errors.named()));
  await post(refusing(errors.named()), { authorization: '' });
  await post(refusing(errors.named()), { 'idempotency-key': 'two words' });
  await post(refusing(new Error('a fault of the server')));
  expect(takeUnnamedRefusals()).toEqual([]);
});

test.each([
  ['without an Idempotency-Key', {}],
  ['with an Idempotency-Key', { 'idempotency-key': 'first' }],
])('a refusal that the route does not name is reported, %s', async (_case, headers: Record<string, string>) => {
  expect(await (await post(refusing(errors.unnamed({ why: 'test' })), headers)).json()).toMatchObject({ code: 4002 });
  expect(takeUnnamedRefusals()).toEqual(['POST /api/v1/refusing does not name unnamed (4002 Not named: test)']);
});

test('a refusal with the same name in another table is a different refusal', async () => {
  await post(refusing(otherErrors.named()));
  expect(takeUnnamedRefusals()).toHaveLength(1);
});

test('a route that names a refusal twice is rejected', () => {
  const twice = { refuses: [errors.named, otherErrors.named], handle: () => null, response: nothing } as const;
  const rest = { method: 'GET', path: '/twice', auth: 'public', tag: 'Test', summary: 'Twice' } as const;
  expect(() => defineRoute({ ...rest, ...twice })).toThrow('GET /twice: names the refusal named twice');
});
