import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ImageShop, openImageShop } from '../testing/image-shop.ts';

let images: ImageShop;
beforeAll(async () => {
  images = await openImageShop();
});
afterAll(() => images?.close());
beforeEach(() => images.sql`delete from ai_images.models`);

const listed = async (query = '') => (await images.call('GET', `/models${query}`)).data;
const change = (id: number, body: object) => images.call('PUT', `/models/${id}`, body);

test('models are listed without their keys: enabled ones, the default one first', async () => {
  const { endpoint } = images;
  const first = await images.addModel({ supports_ref_image: 1, params: { model: 'gpt-image-1', unknown: 1 } });
  expect(first).toEqual({
    ...{ id: expect.any(Number), name: 'Photos', driver: 'openai', endpoint, params: { model: 'gpt-image-1' } },
    ...{ is_default: 1, status: 1, supports_ref_image: 1, has_api_key: true },
  });
  const second = await images.addModel({ name: 'Drawings', is_default: 1, api_key: '' });
  expect(second).toMatchObject({ is_default: 1, has_api_key: false });
  const off = await images.addModel({ name: 'Off', status: 0 });
  expect(await listed()).toEqual([second, { ...first, is_default: 0 }]);
  expect((await listed('?all=true')).map(({ id }: { id: number }) => id)).toEqual([second.id, first.id, off.id]);
  expect(await listed('?all=')).toHaveLength(2);
});

test('a change has the sent fields only; the row of the list can be sent back', async () => {
  const model = await images.addModel();
  expect((await change(model.id, { ...model, created_at: 'x' })).code).toBe(0);
  expect(await listed()).toEqual([model]);
  await change(model.id, { name: 'Cups', api_key: '' });
  expect(await listed()).toEqual([{ ...model, name: 'Cups' }]);
  expect((await change(2 ** 40, { name: 'x' })).message).toBe('AI model not found');
  expect((await images.call('DELETE', `/models/${model.id}`)).code).toBe(0);
  expect((await images.call('DELETE', `/models/${model.id}`)).code).toBe(404);
  expect((await images.generate()).message).toBe('model_id: there is no default AI model, please choose one');
});

describe('a key', () => {
  test('is stored encrypted', async () => {
    const { id } = await images.addModel({ api_key: 'sk-planted-secret' });
    const [row] = await images.sql<{ text: string }[]>`
      select to_jsonb(m)::text as text from ai_images.models m where id = ${id}`;
    expect(row!.text).toMatch(/"sealed:1:/);
    expect(row!.text).not.toContain('planted');
    const everywhere = await images.sql`select answer::text from runtime.idempotency_keys`.catch(() => []);
    expect(JSON.stringify(everywhere)).not.toContain('planted');
  });

  test('is not sent to another address: it must be given again', async () => {
    const model = await images.addModel();
    const other = images.endpoint.replace('127.0.0.1', 'localhost').replace(/:\d+/, ':9');
    for (const moved of [{ endpoint: images.endpoint.replace(/:\d+/, ':9') }, { endpoint: other }])
      expect([moved, (await change(model.id, moved)).code]).toEqual([moved, 400]);
    expect((await change(model.id, { endpoint: `${images.endpoint}/deep` })).code).toBe(0);
    const moved = { endpoint: images.endpoint.replace(/:\d+/, ':9'), api_key: 'sk-other' };
    expect((await change(model.id, moved)).code).toBe(0);
  });
});

test.each([
  [{ endpoint: 'ftp://8.8.8.8' }, 'endpoint'],
  [{ endpoint: 'http://user:pass@8.8.8.8/' }, 'endpoint'],
  [{ endpoint: 'http://10.0.0.1/v1' }, 'endpoint: the host has a private'],
  [{ endpoint: 'http://169.254.169.254/' }, 'endpoint: the host has a private'],
  [{ endpoint: 'http://[::1]/' }, 'endpoint: the host has a private'],
  [{ driver: 'midjourney' }, 'driver'],
  [{ name: '' }, 'name'],
  [{ status: 2 }, 'status'],
  [{ api_key: 'two lines\nof a key' }, 'api_key'],
  [{ params: { sizes: ['big'] } }, 'sizes'],
  [{ params: { options: { 'a b': 1 } } }, 'options'],
  [{ status: 0, is_default: 1 }, 'status'],
])('%j is refused by the name of its field', async (fields, said) => {
  const answer = await images.call('POST', '/models', {
    name: 'x',
    driver: 'openai',
    endpoint: images.endpoint,
    ...fields,
  });
  expect(answer).toMatchObject({ code: 400, message: expect.stringContaining(said) });
});

test('of models that become the default at the same time, one is the default', async () => {
  const models = await Promise.all(
    Array.from({ length: 6 }, (_, n) => images.addModel({ name: `M${n}`, is_default: 1 })),
  );
  await Promise.all(models.map(({ id }) => change(id, { is_default: 1 })));
  const rows = await listed();
  expect(rows.map(({ is_default }: { is_default: number }) => is_default)).toEqual([1, 0, 0, 0, 0, 0]);
});

test('each call needs its permission, and the pages are in the menu', async () => {
  const tokenWith = (...perms: string[]) =>
    images.shop.server.tokens.issue({ role: 'admin', id: images.staffId, perms });
  const [viewer, generator, none] = await Promise.all([
    tokenWith('ai:view'),
    tokenWith('ai:generate'),
    tokenWith('order:view'),
  ]);
  for (const [method, path, permission, token] of [
    ['GET', '/models', 'ai:view', none],
    ['GET', '/tasks', 'ai:view', generator],
    ['GET', '/tasks/1', 'ai:view', generator],
    ['POST', '/generate', 'ai:generate', viewer],
    ['POST', '/models', 'ai:config', viewer],
    ['PUT', '/models/1', 'ai:config', viewer],
    ['DELETE', '/models/1', 'ai:config', generator],
  ] as const) {
    const answer = await images.call(method, path, method === 'GET' ? undefined : {}, token);
    expect([path, answer.code, answer.message]).toEqual([path, 403, `No permission: ${permission}`]);
  }
  const { data } = await images.shop.call('GET', '/admin/api/menus', { token: viewer });
  expect(JSON.stringify(data)).toContain('"path":"/ai/models"');
});
