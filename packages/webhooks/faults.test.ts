import { setTimeout as sleep } from 'node:timers/promises';
import { openAddressGuard } from '@tradepost/outbound-http';
import { defineEvent, dispatchEvents, openLog, recordEvents, runRetention, startLoops } from '@tradepost/runtime';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openEndpointQueue } from './deliveries/endpoint-queue.ts';
import { webhookReader } from './deliveries/read-events.ts';
import { recordBatch } from './deliveries/record-batch.ts';
import { openSender } from './deliveries/send-deliveries.ts';
import { webhookRetention } from './retention.ts';
import { openReceiver, type Receiver } from './testing/receiver.ts';

const noted = defineEvent({
  name: 'note.written',
  about: 'a note was written',
  data: z.object({ note: z.number() }),
  subject: ({ note }) => `note:${note}`,
});
const minuteMs = 60_000;
const guard = openAddressGuard({ allowedNetworks: ['127.0.0.1'] });

let shop: Shop;
let token: string;
let receiver: Receiver;
let lines: string[] = [];
/** Added to the clocks of the sender. */
let laterMs = 0;
const log = openLog({ level: 'trace', stream: { write: (line: string) => lines.push(line) } });

beforeAll(async () => {
  shop = await openShop({ allowedPrivateNetworks: ['127.0.0.1'], logRequests: 'all' }, {}, { log });
  token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['system:config'] });
});
afterAll(() => shop?.close());
beforeEach(async () => {
  await shop.database.sql`
    truncate webhooks.endpoints, webhooks.deliveries, webhooks.attempts, runtime.outbox restart identity`;
  receiver = await openReceiver();
  lines = [];
  laterMs = 0;
});
afterEach(() => receiver.close());

const runtime = () => ({ ...shop.server.runtime, now: () => new Date(Date.now() + laterMs) });
const admin = (method: string, path: string, body?: object) =>
  shop.call(method, `/admin/api/webhooks${path}`, { token, ...(body ? { body } : {}), lang: 'en' });
const add = async (fields: object = {}) => (await admin('POST', '/endpoints', { url: receiver.url, ...fields })).data;
async function write(...notes: number[]): Promise<void> {
  const facts = notes.map((note) => ({ note }));
  await shop.database.sql.begin((tx) => recordEvents(tx, noted, facts, new Date()));
  await dispatchEvents({ runtime: runtime(), readers: [webhookReader(runtime(), [noted])] });
}

describe('no log line has the secret of an endpoint, a signature, or a credential in its URL', () => {
  const credentials = ['path-token-1', 'query-token-2', 'user-name-3', 'pass-word-4'];
  const urlOf = () => `http://127.0.0.1:${receiver.port}/hooks/path-token-1?key=query-token-2`;
  let secrets: string[] = [];
  const found = () => {
    const signatures = receiver.requests.flatMap(({ headers }) => String(headers['webhook-signature']).split(' '));
    const bare = [...secrets.map((secret) => secret.replace('whsec_', '')), ...signatures.map((one) => one.slice(3))];
    const text = lines.join('');
    return [...credentials, 'whsec_', ...bare].filter((sought) => sought !== '' && text.includes(sought));
  };
  const logged = (message: string) => lines.some((line) => line.includes(message));
  let stop: () => Promise<void>;
  let closeSender: () => Promise<void>;
  beforeEach(async () => {
    const { data } = await admin('POST', '/endpoints', { url: urlOf() });
    const { data: rotated } = await admin('POST', `/endpoints/${data.id}/rotate-secret`, {});
    secrets = [data.secret, rotated.secret];
    const sender = openSender({ runtime: runtime(), guard, clock: () => performance.now() + laterMs });
    const loops = startLoops([{ name: 'webhooks.send', everyMs: 20, run: sender.run }], log);
    stop = loops.stop;
    closeSender = sender.close;
  });
  afterEach(async () => {
    await stop();
    await closeSender();
    expect(lines.length).toBeGreaterThan(0);
    expect(found()).toEqual([]);
  });
  const attempts = async (count: number) => {
    const { sql } = shop.database;
    for (let n = 0; n < 400; n += 1) {
      const [row] = await sql<{ n: number }[]>`select count(*)::int as n from webhooks.attempts`;
      if (row!.n >= count) return;
      await sleep(20);
    }
    throw new Error('too late');
  };

  test('after a success', async () => {
    await write(1);
    await attempts(1);
    expect(receiver.accepted).toHaveLength(1);
  });

  test('after a failure, its retry and the last attempt', async () => {
    receiver.behave((_, response) => response.writeHead(500).end('no'));
    await write(1);
    await attempts(1);
    await shop.database.sql`update webhooks.deliveries set attempts = 8`;
    laterMs += minuteMs;
    await attempts(2);
    expect(logged('a webhook delivery has failed after its last attempt')).toBe(true);
  });

  test('after no connection, and an answer that is not HTTP', async () => {
    receiver.behave((_, response) => {
      response.socket?.end('not HTTP\r\n\r\n');
    });
    await write(1);
    await attempts(1);
    await receiver.close();
    laterMs += minuteMs;
    await attempts(2);
    receiver = await openReceiver();
  });

  test('when the endpoint is disabled', async () => {
    receiver.behave((_, response) => response.writeHead(410).end());
    await write(1);
    await attempts(1);
    await expect.poll(() => logged('a webhook endpoint was disabled')).toBe(true);
  });

  test('when the secret cannot be decrypted, and when the database refuses the outcome', async () => {
    const { sql } = shop.database;
    await sql`alter table webhooks.attempts add constraint refused check (answer = 'none') not valid`;
    receiver.behave((_, response) => response.writeHead(200).end('query-token-2'));
    await write(1);
    await expect.poll(() => logged('a loop of the worker failed')).toBe(true);
    await sql`alter table webhooks.attempts drop constraint refused`;
    await sql`update webhooks.endpoints set secret_sealed = overlay(secret_sealed placing 'AAAA' from 40)`;
    await expect.poll(() => logged('the secret of a webhook endpoint is unreadable')).toBe(true);
  });

  test('when an endpoint is refused, or cannot be stored', async () => {
    const { sql } = shop.database;
    expect((await admin('POST', '/endpoints', { url: 'https://user-name-3:pass-word-4@hooks.example/' })).code).toBe(
      400,
    );
    await sql`alter table webhooks.endpoints add constraint refused check (url = '') not valid`;
    const { status } = await admin('POST', '/endpoints', { url: urlOf() });
    await sql`alter table webhooks.endpoints drop constraint refused`;
    expect(status).toBe(500);
    expect(logged('webhooks/endpoints')).toBe(true);
  });
});

test('two workers that record successes and failures of the same endpoints do not block each other', async () => {
  const ids = [(await add()).id, (await add()).id];
  const { sql } = shop.database;
  const outcome = (endpoint_id: number, status: 'delivered' | 'waiting') => ({
    claim: { id: -endpoint_id, endpoint_id, event_id: 1, body: '', attempts: 1, attempts_before: 0 },
    attempt: { started_at: new Date(), duration_ms: 1, status: 204, error: '', answer: '', retryAfterMs: null },
    ...{ status, due_at: null },
  });
  const [one, two] = ids as [number, number];
  let recording: Promise<unknown> = Promise.resolve();
  await sql.begin(async (tx) => {
    await tx`select from webhooks.endpoints where id = ${one} for update`;
    const first = recordBatch(runtime(), [outcome(one, 'delivered'), outcome(two, 'waiting')]);
    await sleep(200);
    const second = recordBatch(runtime(), [outcome(two, 'delivered'), outcome(one, 'waiting')]);
    await sleep(200);
    recording = Promise.allSettled([first, second]);
  });
  expect(await recording).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
});

describe('retention', () => {
  const clean = async (name: string) => {
    const rules = webhookRetention.filter((rule) => rule.name === name);
    return (await runRetention(shop.server.runtime, rules))[0]?.rows ?? 0;
  };
  const age = (days: number) => shop.database.sql`
    update webhooks.deliveries set occurred_at = now() - make_interval(days => ${days})`;

  test('keeps what waits for an endpoint that was disabled a short time ago', async () => {
    const { id } = await add();
    await write(1, 2);
    await admin('PUT', `/endpoints/${id}`, { enabled: false });
    await age(31);
    expect(await clean('webhook_backlogs')).toBe(0);
    await shop.database.sql`update webhooks.endpoints set disabled_at = now() - interval '31 days'`;
    expect(await clean('webhook_backlogs')).toBe(2);
  });

  test('keeps what waits for an endpoint that is enabled at this moment', async () => {
    await add();
    await write(1);
    await age(31);
    const { sql } = shop.database;
    await sql`update webhooks.endpoints set enabled = false, disabled_at = now() - interval '31 days'`;
    let deleting: Promise<number> = Promise.resolve(0);
    await sql.begin(async (tx) => {
      await tx`update webhooks.endpoints set enabled = true, disabled_at = null`;
      deleting = clean('webhook_backlogs');
      await sleep(300);
    });
    expect(await deleting).toBe(0);
  });

  test('deletes a removed endpoint when it has no deliveries', async () => {
    const { id } = await add();
    await add();
    await write(1);
    await admin('DELETE', `/endpoints/${id}`);
    const { sql } = shop.database;
    await sql`update webhooks.endpoints set removed_at = now() - interval '31 days' where removed_at is not null`;
    expect(await clean('webhook_endpoints')).toBe(0);
    await sql`delete from webhooks.deliveries where endpoint_id = ${id}`;
    expect(await clean('webhook_endpoints')).toBe(1);
  });
});

test('a process that was paused does not send what another one may have sent', async () => {
  const held: (() => void)[] = [];
  receiver.behave((_, response) => held.push(() => response.writeHead(204).end()));
  const done: number[] = [];
  const queue = openEndpointQueue(
    runtime(),
    {
      ...{ guard, concurrency: 1, signal: new AbortController().signal },
      ...{ done: ({ id }) => done.push(id), clock: () => laterMs },
    },
    { id: 1, url: receiver.url, secrets: [(await add()).secret] },
  );
  const claim = (id: number) => ({
    ...{ id, endpoint_id: 1, event_id: id, attempts: 1, attempts_before: 0 },
    body: JSON.stringify({ id: `evt_${id}`, type: 'note.written', data: {} }),
  });
  queue.add([claim(1), claim(2)]);
  while (held.length === 0) await sleep(10);
  laterMs += minuteMs;
  held[0]!();
  while (done.length === 0) await sleep(10);
  await sleep(100);
  expect(receiver.requests).toHaveLength(1);
  expect(queue.giveUp(false)).toMatchObject([{ id: 2 }]);
  await queue.close();
});
