import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());
const run = (args: string[], input?: string) =>
  runCommandInProcess(
    ['ai', 'models', ...args, '--database-url', shop.database.url, '--data', shop.server.runtime.config.data],
    input === undefined ? {} : { input },
  );
const json = async (args: string[]) => JSON.parse((await run([...args, '--json'])).stdout);

test('models are added, changed, listed and removed; a key is read from standard input and never printed', async () => {
  const key = 'sk-key-that-is-never-printed';
  expect((await run(['list'])).stdout).toBe('no models\n');
  const added = await run(['add', 'Photos', 'openai', '--endpoint', 'https://images.invalid/v1', '--key-stdin'], key);
  expect(added.code, added.stderr).toBe(0);
  const [model] = await json(['list']);
  expect(model).toMatchObject({ name: 'Photos', is_default: 1, status: 1, has_api_key: true });
  const edit = await run(['edit', String(model.id), '--name', 'Cups', '--ref-image', '--model', 'm']);
  expect(edit.code, edit.stderr).toBe(0);
  expect(await json(['list'])).toMatchObject([
    { name: 'Cups', supports_ref_image: 1, status: 1, params: { model: 'm' } },
  ]);
  const plain = await run(['list']);
  expect(plain.stdout).toMatch(/Cups +openai +yes +yes +\*\*\*/);
  expect(added.stdout + plain.stdout + edit.stdout).not.toContain(key);
  expect(await json(['remove', String(model.id)])).toEqual({ removed: model.id });
});

test('a change keeps the parameters that its options do not name', async () => {
  const token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const params = { model: 'a', sizes: ['512x512'], images_per_request: 2, options: { quality: 'high' } };
  const body = { name: 'Sizes', driver: 'openai', endpoint: 'https://images.invalid/v1', params };
  const { data } = await shop.call('POST', '/admin/api/ai/models', { token, body });
  const edit = await run(['edit', String(data.id), '--model', 'b']);
  expect(edit.code, edit.stderr).toBe(0);
  expect(await json(['list'])).toMatchObject([{ params: { ...params, model: 'b' } }]);
});

test.each([
  [['add', 'x', 'midjourney'], 2, 'driver'],
  [['add', 'x', 'openai', '--endpoint', 'http://10.0.0.1/'], 1, 'private'],
  [['edit', '99', '--name', 'x'], 1, 'not found'],
  [['edit', 'first'], 2, 'whole number'],
  [['remove', '99'], 1, 'not found'],
] as const)('%j ends with %i', async (args, code, said) => {
  expect(await run([...args])).toMatchObject({ code, stderr: expect.stringContaining(said) });
});
