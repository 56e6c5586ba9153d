import { type FakeUpstream, openUpstream } from '@tradepost/testing/servers/upstream';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Another spelling of a model name neither avoids its limits nor reaches another model. */
let upstream: FakeUpstream;
let shop: Shop;
let key: string;
let staff: string;
beforeAll(async () => {
  upstream = await openUpstream();
  const base = { base_url: upstream.url, api_key: 'sk-upstream' };
  shop = await openShop(
    { only: 'api,gateway', gatewayPort: 0 },
    {
      'gateway.upstreams': [
        { ...base, name: 'listed', models: ['Qwen2.5-7B', 'Named'] },
        { ...base, name: 'patterns', models: ['GPT-*'] },
      ],
      'gateway.models': {
        'Qwen2.5-7B': { rpm_limit: 3 },
        'gpt-5': { rpm_limit: 3, upstreams: ['patterns'] },
        Alias: { model: 'qwen2.5-7b', rpm_limit: 3 },
        Secret: { hidden: true, upstreams: ['patterns'] },
      },
      'ratelimit.user_default_rpm': 0,
      'ratelimit.ip_rpm': 0,
    },
  );
  staff = await shop.server.tokens.issue({ role: 'admin', id: 7, perms: ['system:config'] });
  const { id } = await shop.shopper();
  const made = await shop.call('POST', '/api/admin/api-tokens', { token: staff, body: { user_id: id } });
  key = made.data.secret;
});
afterAll(async () => {
  await shop?.close();
  await upstream?.close();
});

const send = (path: string, body?: object) =>
  fetch(`${shop.server.gateway!.url}/v1/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
async function chat(model: string): Promise<number> {
  const response = await send('chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] });
  await response.text();
  return response.status;
}
const sentTo = () => upstream.received.splice(0).map(({ body }) => body.model);

describe('the limit of a model', () => {
  test.each([
    ['a listed model', ['Qwen2.5-7B', 'qwen2.5-7b', ' QWEN2.5-7B/ ', 'Ｑwen2.5-7b', 'qWen2.5-7b']],
    ['a model of a pattern', ['gpt-5', 'GPT-5', ' gpt-5', 'Gpt-5/', 'ｇpt-5']],
    ['an alias', ['alias', 'ALIAS', 'Alias ', 'aLIAS/', 'ａlias']],
  ])('applies to every spelling of %s', async (_title, spellings) => {
    upstream.received.length = 0;
    const seen: number[] = [];
    for (const model of spellings) seen.push(await chat(model));
    expect(seen).toEqual([200, 200, 200, 429, 429]);
    expect(upstream.received).toHaveLength(3);
  });

  test('is read and reset under any spelling', async () => {
    const usage = (method: string, name: string) =>
      shop.call(method, `/api/admin/ratelimit/usage?kind=model&key=${encodeURIComponent(name)}`, { token: staff });
    for (const name of ['GPT-5', 'gpt-5 '])
      expect((await usage('GET', name)).data).toMatchObject({ key: 'gpt-5', requests: 3, limits: { rpm: 3 } });
    expect((await usage('DELETE', 'GPT-5')).data).toEqual({ reset: 1 });
    expect(await chat('gpt-5')).toBe(200);
    expect((await usage('GET', 'a\u200bb')).code).toBe(400);
  });
});

test('an upstream receives the name of its configuration, or with patterns alone the written name', async () => {
  upstream.received.length = 0;
  expect(await chat('NAMED')).toBe(200);
  expect(await chat('GPT-4.1-Mini')).toBe(200);
  expect(sentTo()).toEqual(['Named', 'GPT-4.1-Mini']);
});

test('a model has one line in the usage', async () => {
  await chat('gpt-4o');
  await chat('GPT-4o ');
  const rows = () =>
    shop.database.sql`select distinct model from gateway.usage where model ilike '%gpt-4o%'`.then((all) => [...all]);
  expect(await rows()).toEqual([{ model: 'gpt-4o' }]);
});

test('models are listed in the configured spelling and found under any spelling', async () => {
  const list = (await (await send('models')).json()) as { data: { id: string }[] };
  const ids = list.data.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(['Qwen2.5-7B', 'gpt-5', 'Alias', 'Named']));
  expect(ids).not.toContain('Secret');
  const found = async (path: string) => {
    const response = await send(`models/${path}`);
    const { id } = (await response.json()) as { id?: string };
    return [response.status, id];
  };
  expect(await found('qwen2.5-7b')).toEqual([200, 'Qwen2.5-7B']);
  expect(await found('%20NAMED%20')).toEqual([200, 'Named']);
  expect(await found('alias/')).toEqual([200, 'Alias']);
  expect(await found('SECRET')).toEqual([200, 'Secret']);
  for (const path of ['named%00', 'named%2500', 'named%e2%80%8b', '%20', 'secre'])
    expect((await found(path))[0], path).toBe(404);
});

test('a name with invisible characters is refused, and the refusal names the field', async () => {
  for (const model of ['named\0', 'na\u200bmed', ' ', '/']) {
    const response = await send('chat/completions', { model, messages: [] });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: { param: string } }).error.param).toBe('model');
  }
});
