import { modules } from '@tradepost/app';
import { openAddressGuard } from '@tradepost/outbound-http';
import { defineEvent, dispatchEvents, minorUnits, noRest, recordEvents } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { openModuleShop } from '@tradepost/testing/module-shop';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { webhookReader } from './deliveries/read-events.ts';
import { openSender } from './deliveries/send-deliveries.ts';
import { testSlots } from './limits.ts';
import { isSigned, openReceiver, type Received, type Receiver } from './testing/receiver.ts';

const noted = defineEvent({
  name: 'note.written',
  about: 'a note was written',
  data: z.object({ note: z.number(), step: z.number(), price: minorUnits('the price') }),
  subject: ({ note }) => `note:${note}`,
});
const hourMs = 3_600_000;

let shop: Shop;
let token: string;
let receiver: Receiver;
let sender: ReturnType<typeof openSender>;
/** Added to the clocks of the sender. */
let laterMs = 0;

beforeAll(async () => {
  shop = await openShop({ allowedPrivateNetworks: ['127.0.0.1'] });
  token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['system:config'] });
});
afterAll(() => shop?.close());
beforeEach(async () => {
  const { sql } = shop.database;
  await sql`truncate webhooks.endpoints, webhooks.deliveries, webhooks.attempts, runtime.outbox`;
  laterMs = 0;
  receiver = await openReceiver();
  sender = openTestSender();
});
afterEach(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  await sender.close();
  await receiver.close();
});

const runtime = () => ({ ...shop.server.runtime, now: () => new Date(Date.now() + laterMs) });
const openTestSender = (allowedNetworks = ['127.0.0.1']) =>
  openSender({
    runtime: runtime(),
    guard: openAddressGuard({ allowedNetworks }),
    clock: () => performance.now() + laterMs,
  });
const admin = (method: string, path: string, body?: object) =>
  shop.call(method, `/admin/api/webhooks${path}`, { token, ...(body ? { body } : {}), lang: 'en' });
const add = async (fields: object = {}) => (await admin('POST', '/endpoints', { url: receiver.url, ...fields })).data;

/** Records notes and gives them to the reader of webhooks. */
async function write(...notes: { note: number; step: number }[]): Promise<void> {
  const facts = notes.map((one) => ({ ...one, price: 1250 }));
  await shop.database.sql.begin((tx) => recordEvents(tx, noted, facts, new Date()));
  await dispatchEvents({ runtime: runtime(), readers: [webhookReader(runtime(), [noted])] });
}
const send = () => sender.run(new AbortController().signal, noRest);
/** Sends until nothing waits, hours of the sender apart. */
async function sendForDays(hours = 100): Promise<void> {
  for (let hour = 0; hour < hours; hour += 1) {
    await send();
    laterMs += hourMs;
  }
}
const deliveries = async (query = '') => (await admin('GET', `/deliveries${query}`)).data;
const steps = (received: readonly Received[], note: number) =>
  received.filter(({ data }) => data.note === note).map(({ data }) => data.step);

test('an event arrives signed, with amounts as the API has them, at each endpoint that wants it', async () => {
  const { id, secret, ...endpoint } = await add();
  expect(endpoint).toMatchObject({ url: receiver.url, enabled: true, event_kinds: [], waiting: 0, failed: 0 });
  await add({ event_kinds: ['order.paid'] });
  await write({ note: 1, step: 1 });
  await send();
  expect(receiver.requests.map(({ data }) => data)).toEqual([{ note: 1, step: 1, price: 12.5 }]);
  const [received] = receiver.requests as [Received];
  expect(JSON.parse(received.body)).toEqual({
    id: received.headers['webhook-id'],
    type: 'note.written',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/),
    data: { note: 1, step: 1, price: 12.5 },
  });
  expect(received.headers.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
  expect(isSigned(secret, received)).toBe(true);
  expect(isSigned(secret, { ...received, body: received.body.replace('12.5', '0') })).toBe(false);
  const { list, total } = await deliveries();
  expect([total, list[0]]).toMatchObject([1, { endpoint_id: id, status: 'delivered', attempts: 1, last_status: 204 }]);
});

test('after a rotation both secrets sign, and only the new one when the overlap is over', async () => {
  const { id, secret: old } = await add();
  const { data: rotated } = await admin('POST', `/endpoints/${id}/rotate-secret`, { overlap_hours: 2 });
  await write({ note: 1, step: 1 });
  await send();
  const [first] = receiver.requests as [Received];
  expect([isSigned(old, first), isSigned(rotated.secret, first)]).toEqual([true, true]);
  await admin('POST', `/endpoints/${id}/rotate-secret`, { overlap_hours: 0 });
  await write({ note: 1, step: 2 });
  await new Promise((resolve) => setTimeout(resolve, 600));
  await send();
  const second = receiver.requests[1]!;
  expect([isSigned(old, second), isSigned(rotated.secret, second)]).toEqual([false, false]);
});

describe('a receiver that', () => {
  const notes = Array.from({ length: 60 }, (_, n) => ({ note: n % 12, step: Math.floor(n / 12) }));
  const inOrder = () => {
    for (let note = 0; note < 12; note += 1) expect(steps(receiver.counted(), note)).toEqual([0, 1, 2, 3, 4]);
    expect(receiver.counted().length).toBe(60);
  };

  test('fails 30 % of the requests and answers slowly has every event, in order for each subject', async () => {
    let n = 0;
    receiver.behave((_, response) => {
      n += 1;
      const status = n % 10 < 3 ? 500 : 204;
      setTimeout(() => response.writeHead(status).end(), n % 7);
    });
    await add();
    await write(...notes);
    await sendForDays(40);
    inOrder();
    expect(receiver.requests.length).toBeGreaterThan(60);
    expect((await deliveries('?status=waiting')).total).toBe(0);
  });

  test('is away for a while has every event, in order for each subject', async () => {
    await add();
    const { port } = receiver;
    const before = receiver;
    await write(...notes.slice(0, 30));
    await before.close();
    await send();
    // The circuit is open: few requests are made while nothing listens.
    laterMs += 10_000;
    await send();
    const [{ attempts }] = await shop.database.sql<[{ attempts: number }]>`
      select sum(attempts)::int as attempts from webhooks.deliveries`;
    expect(attempts).toBeGreaterThanOrEqual(10);
    expect(attempts).toBeLessThan(30);
    receiver = await openReceiver(undefined, port);
    await write(...notes.slice(30));
    await sendForDays(10);
    inOrder();
  });

  test('accepts a request but breaks off before its answer gets it again with the same id', async () => {
    let broken = 0;
    receiver.behave((_, response) => {
      broken += 1;
      if (broken <= 2) response.destroy();
      else response.writeHead(200).end('thank you');
    });
    await add();
    await write({ note: 1, step: 1 });
    await sendForDays(3);
    expect(new Set(receiver.requests.map(({ id }) => id)).size).toBe(1);
    const [{ id, attempts }] = (await deliveries()).list;
    const { data } = await admin('GET', `/deliveries/${id}`);
    expect(data.log.length).toBe(attempts);
    expect(data.log[0]).toMatchObject({ status: 0, error: expect.stringContaining('connection') });
    expect(data.log.at(-1)).toMatchObject({ status: 200, error: '', answer: 'thank you' });
  });

  test('answers with a redirect, or with a long text, is not followed and not read', async () => {
    receiver.behave(({ data }, response) => {
      if (data.step === 1) response.writeHead(302, { location: '/elsewhere' }).end();
      else response.writeHead(400).end(`secret\0${'x'.repeat(1_000_000)}`);
    });
    await add();
    await write({ note: 1, step: 1 }, { note: 2, step: 2 });
    await send();
    const { list } = await deliveries();
    expect(list.map((row: { last_error: string }) => row.last_error)).toEqual([
      'HTTP 400',
      'HTTP 302: redirects are not followed',
    ]);
    const { data } = await admin('GET', `/deliveries/${list[0].id}`);
    expect(data.log[0].answer.length).toBe(500);
    expect(receiver.requests.length).toBe(2);
  });

  test('asks for a pause gets nothing before it is over', async () => {
    receiver.behave((_, response) => response.writeHead(429, { 'retry-after': '7200' }).end());
    await add();
    await write({ note: 1, step: 1 });
    await send();
    laterMs += hourMs;
    await send();
    expect(receiver.requests.length).toBe(1);
    laterMs += hourMs;
    await send();
    expect(receiver.requests.length).toBe(2);
  });

  test('refuses every attempt: the delivery fails after nine, and the next of its subject goes on', async () => {
    receiver.behave(({ data }, response) => response.writeHead(data.step === 1 ? 500 : 204).end());
    const { id } = await add();
    await write({ note: 1, step: 1 }, { note: 1, step: 2 }, { note: 2, step: 2 });
    await sendForDays(120);
    expect((await deliveries('?status=failed')).list).toMatchObject([{ attempts: 9, last_error: 'HTTP 500' }]);
    expect(steps(receiver.accepted, 1)).toEqual([2]);
    // Replayed with the same id and all attempts.
    receiver.behave((_, response) => response.writeHead(204).end());
    expect((await admin('POST', `/endpoints/${id}/replay`, { failed: true })).data).toEqual({
      ...{ replayed: 1, more: false },
      last_event_id: expect.any(Number),
    });
    await send();
    expect(steps(receiver.accepted, 1)).toEqual([2, 1]);
    expect((await deliveries()).list.map((row: { status: string }) => row.status)).toEqual(Array(3).fill('delivered'));
  });

  test('answers 410 is disabled, with an event for staff; what waits is sent when it is enabled again', async () => {
    receiver.behave((_, response) => response.writeHead(410).end());
    const { id } = await add();
    await write({ note: 1, step: 1 });
    await send();
    const { data: disabled } = await admin('GET', `/endpoints/${id}`);
    expect(disabled).toMatchObject({ enabled: false, disabled_reason: 'gone', waiting: 1 });
    const [event] = await shop.database.sql`select data from runtime.outbox where name = 'webhook.disabled'`;
    expect(event!.data).toEqual({ endpoint_id: id, host: '127.0.0.1', reason: 'gone' });
    // Nothing is written for it meanwhile.
    await write({ note: 1, step: 2 });
    expect((await deliveries()).total).toBe(1);
    receiver.behave((_, response) => response.writeHead(204).end());
    expect((await admin('PUT', `/endpoints/${id}`, { enabled: true })).data.disabled_reason).toBe('');
    laterMs += hourMs;
    await send();
    expect(steps(receiver.accepted, 1)).toEqual([1]);
  });

  test('fails for days is disabled; a single success starts the count again', async () => {
    receiver.behave((_, response) => response.writeHead(500).end());
    const { id } = await add();
    await write(...Array.from({ length: 3 }, (_, n) => ({ note: n, step: 1 })));
    await sendForDays(24 * 4);
    receiver.behave((_, response) => response.writeHead(204).end());
    await write({ note: 9, step: 1 });
    await send();
    receiver.behave((_, response) => response.writeHead(500).end());
    for (let day = 0; day < 5; day += 1) {
      await write({ note: 10 + day, step: 1 });
      await sendForDays(23);
    }
    expect((await admin('GET', `/endpoints/${id}`)).data.enabled).toBe(true);
    laterMs += 24 * hourMs;
    await write({ note: 20, step: 1 });
    await send();
    expect((await admin('GET', `/endpoints/${id}`)).data).toMatchObject({ enabled: false, disabled_reason: 'dead' });
  });
});

test('a slow endpoint does not delay another one', async () => {
  const slow = await openReceiver((_, response) => setTimeout(() => response.writeHead(204).end(), 6_000));
  await add({ url: slow.url });
  await add();
  await write(...Array.from({ length: 40 }, (_, n) => ({ note: n, step: 1 })));
  const started = performance.now();
  const sending = send();
  while (receiver.accepted.length < 40 && performance.now() - started < 6_000)
    await new Promise((resolve) => setTimeout(resolve, 10));
  expect(performance.now() - started).toBeLessThan(6_000);
  expect(slow.accepted.length).toBe(0);
  await slow.close();
  await sending;
});

test('two workers, one of which dies with its claims, deliver every event once, in order', async () => {
  await add();
  await write(...Array.from({ length: 80 }, (_, n) => ({ note: n % 10, step: Math.floor(n / 10) })));
  // A worker that claimed and was killed: its rows are claimed, and nothing ends them.
  await shop.database.sql`
    update webhooks.deliveries set attempts = 1, due_at = now() + interval '1 minute'
    where id in (select id from webhooks.deliveries where ready order by id limit 3)`;
  const second = openTestSender();
  await Promise.all([send(), second.run(new AbortController().signal, noRest)]);
  expect(receiver.requests.length).toBe(56);
  laterMs += 61_000;
  await Promise.all([send(), second.run(new AbortController().signal, noRest)]);
  expect(receiver.requests.length).toBe(80);
  for (let note = 0; note < 10; note += 1) expect(steps(receiver.accepted, note)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await second.close();
});

describe('an endpoint', () => {
  test.each([
    ['ftp://hooks.example/', 'url: must be an address beginning with'],
    ['no address', 'url: must be an address beginning with'],
    ['https://a:b@hooks.example/', 'url: must not contain a user name'],
    ['http://10.0.0.1/', 'url: the host has a private or reserved address'],
    ['http://[::1]:9000/', 'url: the host has a private or reserved address'],
    ['http://169.254.169.254/latest/meta-data', 'url: the host has a private or reserved address'],
  ])('at %s is refused', async (url, message) => {
    const answer = await admin('POST', '/endpoints', { url });
    expect([answer.code, answer.message]).toEqual([400, expect.stringContaining(message)]);
    const { id } = await add();
    expect((await admin('PUT', `/endpoints/${id}`, { url })).code).toBe(400);
  });

  test('that names an unknown event is refused, and so is the twenty-first', async () => {
    const unknown = await admin('POST', '/endpoints', { url: receiver.url, event_kinds: ['order.lost'] });
    expect([unknown.code, unknown.message]).toEqual([400, 'event_kinds: there is no event order.lost']);
    for (let n = 0; n < 20; n += 1) await add();
    expect((await admin('POST', '/endpoints', { url: receiver.url })).code).toBe(409);
    expect((await admin('GET', '/endpoints')).data.list.length).toBe(20);
  });

  test('whose host gets a private address later is not connected to', async () => {
    await add();
    await write({ note: 1, step: 1 });
    await sender.close();
    sender = openTestSender([]);
    await send();
    expect(receiver.requests).toEqual([]);
    expect((await deliveries()).list[0].last_error).toBe(
      'the host has a private or reserved address (REFUSED_ADDRESS)',
    );
  });

  test('that was removed gets nothing more, and is not found', async () => {
    const { id } = await add();
    await write({ note: 1, step: 1 });
    await admin('DELETE', `/endpoints/${id}`);
    await send();
    expect(receiver.requests).toEqual([]);
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['POST', '/rotate-secret'],
    ] as const)
      expect((await admin(method, `/endpoints/${id}${path}`, method === 'GET' ? undefined : {})).code).toBe(404);
    expect((await admin('GET', '/endpoints')).data.list).toEqual([]);
  });

  test('gets a bounded number of test messages at once, and further ones are answered with 503', async () => {
    const { id } = await add({ enabled: false });
    let [open, most] = [0, 0];
    receiver.behave((_, response) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        response.writeHead(204).end();
      }, 50);
    });
    const answers = await Promise.all(Array.from({ length: 100 }, () => admin('POST', `/endpoints/${id}/test`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 503]));
    expect(most).toBeLessThanOrEqual(testSlots.active);
  });

  test('gets a test message on request, and staff see the answer', async () => {
    const { id, secret } = await add({ enabled: false });
    receiver.behave((_, response) => response.writeHead(202).end('seen'));
    expect((await admin('POST', `/endpoints/${id}/test`)).data).toMatchObject({
      status: 202,
      error: '',
      answer: 'seen',
    });
    expect(receiver.requests[0]!.type).toBe('webhook.test');
    expect(isSigned(secret, receiver.requests[0]!)).toBe(true);
  });

  test('shows its secret once; no list, log or table has it', async () => {
    const { id, secret } = await add();
    receiver.behave((_, response) => response.writeHead(500).end('failed'));
    await write({ note: 1, step: 1 });
    await send();
    const answers = await Promise.all([
      admin('GET', '/endpoints'),
      admin('GET', `/endpoints/${id}`),
      admin('PUT', `/endpoints/${id}`, { description: 'ERP' }),
      admin('GET', '/deliveries'),
      admin('GET', `/deliveries/${(await deliveries()).list[0].id}`),
    ]);
    const rows = await shop.database.sql`
      select e::text, d::text as d, a::text as a from webhooks.endpoints e, webhooks.deliveries d, webhooks.attempts a`;
    const bare = secret.replace('whsec_', '');
    expect(JSON.stringify([answers, rows])).not.toContain(bare);
    const keyed = await shop.call('POST', '/admin/api/webhooks/endpoints', {
      ...{ token, body: { url: receiver.url }, headers: { 'Idempotency-Key': 'endpoint-1' } },
    });
    expect(keyed.code).toBe(400);
  });
});

test('replay by time sends delivered events again, in order, with their ids', async () => {
  const { id } = await add();
  await write({ note: 1, step: 1 }, { note: 1, step: 2 }, { note: 2, step: 1 });
  await send();
  const since = new Date(Date.now() - 60_000).toISOString();
  expect((await admin('POST', `/endpoints/${id}/replay`, { since })).data.replayed).toBe(3);
  await send();
  expect(steps(receiver.accepted, 1)).toEqual([1, 2, 1, 2]);
  expect(receiver.counted().length).toBe(3);
  expect((await admin('POST', `/endpoints/${id}/replay`, { until: since, failed: true })).data.replayed).toBe(0);
  expect((await admin('POST', `/endpoints/${id}/replay`, {})).message).toContain('delivery_ids');
  expect((await admin('POST', `/endpoints/${id}/replay`, { since: 'soon' })).message).toContain('since');
});

test('a replay of many goes on after the last event, and does not send again what was sent meanwhile', async () => {
  const { id } = await add();
  const { sql } = shop.database;
  await sql`
    insert into webhooks.deliveries (
      endpoint_id, event_id, kind, subject, body, status, ready, attempts, due_at, last_status, occurred_at, ended_at)
    select ${id}, n, 'order.paid', 'order:' || n / 2, '{}', 'delivered', false, 1, now(), 204, now(), now()
    from generate_series(1, 1250) n`;
  const since = new Date(Date.now() - 60_000).toISOString();
  const replay = async (after_event_id: number) => {
    const { data } = await admin('POST', `/endpoints/${id}/replay`, { since, after_event_id });
    // Sent and accepted before the next call.
    await sql`
      update webhooks.deliveries set status = 'delivered', ready = false, attempts = attempts + 1, ended_at = now()
      where status = 'waiting'`;
    return data;
  };
  expect(await replay(0)).toEqual({ replayed: 1000, more: true, last_event_id: 1000 });
  expect(await replay(1000)).toEqual({ replayed: 250, more: false, last_event_id: 1250 });
  expect(await replay(1250)).toEqual({ replayed: 0, more: false, last_event_id: 0 });
});

test('the console has a page for those who may use it, and none without the module', async () => {
  const pageOf = async (call: Shop['call'], caller: string, lang = 'en') => {
    const { data } = await call('GET', '/admin/api/menus', { token: caller, lang });
    type Menu = { path: string; title: string; children: Menu[] };
    const menus = (data.groups as { menus: Menu[] }[]).flatMap((group) =>
      group.menus.flatMap(({ children }) => children),
    );
    return menus.find(({ path }) => path === '/system/webhooks')?.title;
  };
  const other = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['product:list'] });
  expect(await pageOf(shop.call, token)).toBe('Webhooks');
  expect(await pageOf(shop.call, token, 'zh-CN')).toBe('Webhook 推送');
  expect(await pageOf(shop.call, other)).toBeUndefined();
  const off = await openModuleShop(
    shop.database,
    modules.filter(({ name }) => name !== 'webhooks'),
    {},
    modules,
  );
  try {
    expect(await pageOf(off.call, token)).toBeUndefined();
  } finally {
    await off.close();
  }
});
