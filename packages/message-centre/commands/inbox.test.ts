import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

const run = (...args: string[]) =>
  runCommandInProcess(['inbox', ...args, '--database-url', shop.database.url], { env: {} });
const text = ['--title', 'Closed on Monday', '--content', 'We ship again on Tuesday.'];

test('a message is sent to one shopper by name, and to all only when that is confirmed', async () => {
  const [ann, bob] = [await shop.shopper(), await shop.shopper()];
  const one = await run('send', '--user', ann.username, ...text, '--group', 'order', '--json');
  expect([one.code, JSON.parse(one.stdout)], one.stderr).toEqual([0, { sent: 1, user_id: ann.id }]);
  const unconfirmed = await run('send', '--all', ...text);
  expect([unconfirmed.code, unconfirmed.stderr]).toEqual([2, expect.stringContaining('--yes')]);
  expect((await run('send', '--all', '--yes', ...text)).stdout).toBe('sent to all shoppers\n');
  const inbox = async ({ token }: { token: string }) =>
    (await shop.call('GET', '/api/v1/messages', { token })).data.list.map((row: { group: string }) => row.group);
  expect([await inbox(ann), await inbox(bob)]).toEqual([['system', 'order'], ['system']]);
  const listed = await run('list', '--json');
  expect(JSON.parse(listed.stdout)).toMatchObject({
    total: 2,
    messages: [
      { user_id: 0, group: 'system', title: 'Closed on Monday', read_by_user: false },
      { user_id: ann.id, group: 'order' },
    ],
  });
  expect((await run('list', '--user', ann.username)).stdout).toMatch(/order +\S+ +no +Closed on Monday/);
});

test('wrong usage is exit code 2, a shopper who does not exist is 1, and nothing is sent', async () => {
  const { sql } = shop.database;
  const before = await sql`select count(*)::int as n from message_centre.messages`;
  expect((await run('send', ...text)).code).toBe(2);
  expect((await run('send', '--user', '1', '--all', ...text)).code).toBe(2);
  expect((await run('send', '--all', '--yes', '--title', ' ', '--content', 'x')).code).toBe(2);
  expect((await run('send', '--user', 'no-such-name', ...text)).code).toBe(1);
  const markup = await run('send', '--all', '--yes', '--title', 'x', '--content', '<script>alert(1)</script>');
  expect([markup.code, markup.stderr]).toEqual([1, expect.stringContaining('content')]);
  expect(await sql`select count(*)::int as n from message_centre.messages`).toEqual(before);
});

test('templates are listed with their events and whether they are on', async () => {
  await shop.server.runtime.settings.set('inbox.templates_off', ['order_paid']);
  const { templates } = JSON.parse((await run('templates', '--json')).stdout) as {
    templates: { name: string; event: string; on: boolean }[];
  };
  expect(templates.find(({ name }) => name === 'order_paid')).toMatchObject({ event: 'order.paid', on: false });
  expect(templates.find(({ name }) => name === 'order_shipped')).toMatchObject({ event: 'order.shipped', on: true });
});
