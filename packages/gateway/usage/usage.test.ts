import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** The sums of usage and the state of the upstreams in the back office. */
let shop: Shop;
let staff: string;
beforeAll(async () => {
  shop = await openShop(
    {},
    {
      'shop.time_zone': 'Asia/Shanghai',
      'gateway.upstreams': [
        { name: 'main', base_url: 'http://127.0.0.1:1/v1', api_key: 'sk-secret', headers: { 'x-team': 'sk-too' } },
        { name: 'spare', base_url: 'http://127.0.0.1:2/v1', enabled: false, models: ['small'], priority: 5 },
      ],
    },
  );
  staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['system:config'] });
  const { sql } = shop.database;
  await sql`
    insert into gateway.usage (id, user_id, token_id, endpoint, model, state, estimated_input_tokens, max_output_tokens,
                               input_tokens, output_tokens, started_at, ended_at)
    select gen_random_uuid(), user_id, token_id, 'chat/completions', model, state, 100, 50, input, output, at,
           case when state <> 'open' then at end
    from (values
      (1, 1, 'a', 'done', 10, 5, timestamptz '2026-03-01 10:00+08'),
      (1, 2, 'a', 'failed', null, null, '2026-03-01 23:59:59.5+08'),
      (1, 2, 'b', 'cancelled', 20, 1, '2026-03-02 00:00+08'),
      (2, 3, 'b', 'open', null, null, '2026-03-03 00:00+08')
    ) as v (user_id, token_id, model, state, input, output, at)`;
});
afterAll(() => shop?.close());

const usage = async (query: string, token = staff) => shop.call('GET', `/api/admin/gateway/usage?${query}`, { token });
const march = 'from=2026-03-01&to=2026-03-03';

test('sums by user, token, model and day of the shop: the largest first, the latest day first', async () => {
  const none = { requests: 0, failed: 0, cancelled: 0, open: 0, charged_tokens: 0, input_tokens: 0, output_tokens: 0 };
  expect((await usage(march)).data).toEqual({
    list: [
      {
        ...{ key: '1', requests: 3, failed: 1, cancelled: 1, open: 0, charged_tokens: 450 },
        ...{ input_tokens: 30, output_tokens: 6 },
      },
      { ...none, key: '2', requests: 1, open: 1, charged_tokens: 150 },
    ],
    ...{ total: 2, page: 1, size: 20 },
  });
  const keys = async (query: string) =>
    (await usage(`${march}&${query}`)).data.list.map(({ key }: { key: string }) => key);
  expect(await keys('by=token')).toEqual(['2', '1', '3']);
  expect(await keys('by=model')).toEqual(['b', 'a']);
  expect(await keys('by=day')).toEqual(['2026-03-03', '2026-03-02', '2026-03-01']);
  expect((await usage(`${march}&by=token&size=2&page=2`)).data).toMatchObject({ total: 3, list: [{ key: '3' }] });
  expect((await usage(`${march}&page=9`)).data).toMatchObject({ total: 2, list: [] });
});

test('a date includes its day, a time its second; the default is the last 30 days', async () => {
  const day = async (query: string) => (await usage(`by=day&${query}`)).data.list;
  expect(await day('from=2026-03-01&to=2026-03-01')).toMatchObject([{ key: '2026-03-01', requests: 2 }]);
  expect(await day('from=2026-03-01&to=2026-03-01 23:59:59')).toMatchObject([{ requests: 2 }]);
  expect(await day('from=2026-03-01&to=2026-03-01 23:59:58')).toMatchObject([{ requests: 1 }]);
  expect(await usage('from=soon')).toMatchObject({ code: 400, message: expect.stringContaining('from') });
  const { sql } = shop.database;
  await sql`
    insert into gateway.usage (id, user_id, token_id, endpoint, model, state, estimated_input_tokens, max_output_tokens, started_at)
    select gen_random_uuid(), 1, 1, 'responses', 'recent', 'open', 1, 1, now() - make_interval(days => days)
    from unnest(array[1, 29, 31]) as days`;
  expect((await usage('by=model')).data.list).toMatchObject([{ key: 'recent', requests: 2 }]);
});

test('upstreams: their state, without their keys', async () => {
  const answer = await shop.call('GET', '/api/admin/gateway/upstreams', { token: staff });
  expect(answer.data).toMatchObject([
    { name: 'main', enabled: true, has_key: true, state: 'up', failures: 0, models: ['*'] },
    { name: 'spare', enabled: false, has_key: false, state: 'disabled', priority: 5 },
  ]);
  expect(JSON.stringify(answer.body)).not.toContain('sk-');
});

test('both need the permission to configure the shop', async () => {
  const clerk = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['order:view'] });
  expect((await usage(march, clerk)).code).toBe(403);
  expect((await shop.call('GET', '/api/admin/gateway/upstreams', { token: clerk })).code).toBe(403);
});
