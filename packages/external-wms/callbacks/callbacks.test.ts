import { randomUUID } from 'node:crypto';
import { createApp } from '@tradepost/http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TaskAction } from '../protocol/actions.ts';
import { externalSignature } from '../protocol/signature.ts';
import { taskRoutes } from '../tasks/task-routes.ts';
import { appKey, appSecret, openTaskBench, orderTask, type TaskBench } from '../testing/warehouse-tasks.ts';
import { callbackRoutes } from './callback-routes.ts';
import { forgetNonces } from './callback-store.ts';
import { receiveCallbacks } from './receive-callbacks.ts';

/** Callbacks: only signed ones are accepted, each takes effect once, and ended tasks do not change. */
let bench: TaskBench;
let app: ReturnType<typeof createApp>;
beforeAll(async () => {
  bench = await openTaskBench();
  const { deps } = bench;
  const caller = { role: 'admin' as const, id: 1, perms: ['*'], jti: 'j', expiresAt: 2 ** 40 };
  const authenticate = (token: string) => (token === 'staff' ? caller : { ...caller, perms: [] });
  app = createApp({
    routes: [...callbackRoutes(deps), ...taskRoutes(deps)],
    resources: [],
    authenticate,
    runtime: deps.runtime,
  });
});
afterAll(() => bench?.close());
beforeEach(async () => {
  const { sql } = bench;
  await sql`truncate inventory.inventory_integration_tasks, inventory.external_callbacks, inventory.external_nonces,
    inventory.order_inventory_state, inventory.inventory_reservation, orders.orders`;
  await bench.orders(['T1', 'T2'], ['reserve']);
});
afterEach(() =>
  bench.runtime.settings.setMany({
    'external_wms.app_key': appKey,
    'external_wms.app_secret': appSecret,
    'external_wms.callback_enabled': true,
  }),
);

type Outer = Record<string, unknown>;
async function request(method: string, path: string, options: { body?: unknown; token?: string; key?: string } = {}) {
  const headers: Record<string, string> = { 'accept-language': 'en' };
  if (options.body !== undefined) headers['content-type'] = 'application/json';
  if (options.token) headers.authorization = `Bearer ${options.token}`;
  if (options.key) headers['idempotency-key'] = options.key;
  const body = options.body === undefined ? undefined : JSON.stringify(options.body);
  const response = await app.fetch(new Request(`http://shop${path}`, { method, headers, ...(body ? { body } : {}) }));
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
  const { code, message, data } = (await response.json()) as { code: number; message: string; data: any };
  return { status: response.status, code, message, data };
}
const post = (body: Outer) => request('POST', '/admin/api/external-wms/callback', { body });

const unix = (offset = 0) => Math.floor(+bench.now() / 1000) + offset;
/** A message as the partner signs it. */
function signed(inner: unknown, more: { timestamp?: number; nonce?: string; secret?: string; app_key?: string } = {}) {
  const body = typeof inner === 'string' ? inner : JSON.stringify(inner);
  const { nonce = randomUUID(), timestamp = unix(), secret = appSecret, app_key = appKey } = more;
  const parts = { app_key, timestamp: String(timestamp), nonce, body };
  return { ...parts, sign: externalSignature(parts, secret) };
}
const inner = (no: string, status: unknown = 'success', more: Outer = {}) => ({
  ...{ request_id: bench.requestId(no, 'reserve'), callback_id: randomUUID(), status, message: '' },
  ...more,
});
const accepted = { status: 200, code: 0, data: { received: true } };
const traces = async () => {
  const [row] = await bench.sql`
    select (select count(*)::int from inventory.external_nonces) as nonces,
           (select count(*)::int from inventory.external_callbacks) as callbacks,
           (select count(*)::int from inventory.inventory_integration_tasks where status <> 'pending') as moved`;
  return row;
};
const callbackRow = async (callback_id: string) => {
  const [row] = await bench.sql`
    select outcome, seen, status, request_id, task_id from inventory.external_callbacks where callback_id = ${callback_id}`;
  return row;
};

describe('a callback is refused and leaves no trace', () => {
  const cases: [name: string, message: () => Outer | Promise<Outer>, code: number, text: RegExp][] = [
    ['without its app_key', () => ({ ...signed(inner('T1')), app_key: undefined }), 400, /^app_key: is missing/],
    ['without its timestamp', () => ({ ...signed(inner('T1')), timestamp: undefined }), 400, /^timestamp: /],
    ['without its nonce', () => ({ ...signed(inner('T1')), nonce: '' }), 400, /^nonce: /],
    ['without its signature', () => ({ ...signed(inner('T1')), sign: undefined }), 400, /^sign: is missing/],
    ['without its body', () => ({ ...signed(inner('T1')), body: undefined }), 400, /^body: is missing/],
    ['with a body that is not a text', () => ({ ...signed(inner('T1')), body: inner('T1') }), 400, /^body: /],
    [
      'with a timestamp that is not a number',
      () => ({ ...signed(inner('T1')), timestamp: 'now' }),
      400,
      /^timestamp: /,
    ],
    ['of another app_key', () => signed(inner('T1'), { app_key: 'other-key' }), 400, /^app_key: /],
    ['signed with another secret', () => signed(inner('T1'), { secret: 'guess' }), 400, /^sign: /],
    [
      'with a body that differs from the signed one',
      () => ({ ...signed(inner('T1')), body: JSON.stringify(inner('T2')) }),
      400,
      /^sign: /,
    ],
    [
      'with a nonce that differs from the signed one',
      () => ({ ...signed(inner('T1')), nonce: 'other' }),
      400,
      /^sign: /,
    ],
    [
      'with a timestamp that differs from the signed one',
      () => ({ ...signed(inner('T1')), timestamp: unix(1) }),
      400,
      /^sign: /,
    ],
    ['that is too old', () => signed(inner('T1'), { timestamp: unix(-302) }), 400, /^timestamp: /],
    ['from the future', () => signed(inner('T1'), { timestamp: unix(302) }), 400, /^timestamp: /],
    ['with truncated JSON', () => signed('{"request_id":"order:T1'), 400, /^body: is not valid JSON/],
    ['whose body is a list', () => signed([]), 400, /^body: is not a JSON object/],
    ['whose body is null', () => signed('null'), 400, /^body: is not a JSON object/],
    ['whose body names no task', () => signed({ status: 'success' }), 400, /^body: request_id/],
    [
      'whose body names no task, although the unsigned part does',
      () => ({ ...signed({ status: 'success' }), request_id: bench.requestId('T1', 'reserve') }),
      ...([400, /^body: request_id/] as const),
    ],
    ['with NUL in its body', () => signed('{"request_id":"a\0"}'), 400, /^body: /],
    [
      'while callbacks are off',
      async () => {
        await bench.runtime.settings.set('external_wms.callback_enabled', false);
        return signed(inner('T1'));
      },
      ...([403, /switched off/] as const),
    ],
    [
      'while no secret is set',
      async () => {
        await bench.runtime.settings.set('external_wms.app_secret', '');
        return signed(inner('T1'), { secret: '' });
      },
      ...([403, /switched off/] as const),
    ],
    [
      'while no key is set',
      async () => {
        await bench.runtime.settings.set('external_wms.app_key', '');
        return signed(inner('T1'), { app_key: ' ' });
      },
      // A blank key is not an empty key: the field is present, and it is wrong.
      ...([400, /^app_key: /] as const),
    ],
  ];
  test.each(cases)('%s', async (_name, message, code, text) => {
    const answer = await post(await message());
    expect(answer).toMatchObject({ status: 200, code, data: null });
    expect(answer.message).toMatch(text);
    expect(await traces()).toEqual({ nonces: 0, callbacks: 0, moved: 0 });
  });

  test('that is larger than the limit', async () => {
    const answer = await post(signed(inner('T1', 'success', { message: 'x'.repeat(65_536) })));
    expect(answer).toMatchObject({ status: 413, code: 413 });
    expect(await traces()).toEqual({ nonces: 0, callbacks: 0, moved: 0 });
  });

  test('and many forged ones write one log line per minute', async () => {
    const lines: unknown[] = [];
    const log = Object.assign(Object.create(bench.runtime.log), { warn: (line: unknown) => lines.push(line) });
    const runtime = { ...bench.runtime, log };
    const routes = callbackRoutes({ ...bench.deps, runtime });
    const own = createApp({ routes, resources: [], authenticate: () => null, runtime });
    const body = JSON.stringify(signed(inner('T1'), { secret: 'guess' }));
    for (let sent = 0; sent < 20; sent += 1)
      await own.fetch(
        new Request('http://shop/admin/api/external-wms/callback', {
          ...{ method: 'POST', body, headers: { 'content-type': 'application/json' } },
        }),
      );
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toContain(appSecret);
  });
});

describe('a callback is accepted', () => {
  test('at both ends of the time window, with a timestamp as text or number, and hex digits in either case', async () => {
    const early = signed(inner('T1', 'processing'), { timestamp: unix(-299) });
    const late = signed(inner('T1', 'processing'), { timestamp: unix(299) });
    expect(await post(early)).toMatchObject(accepted);
    expect(await post({ ...late, timestamp: Number(late.timestamp) })).toMatchObject(accepted);
    const upperCase = signed(inner('T1', 'processing'));
    expect(await post({ ...upperCase, sign: upperCase.sign.toUpperCase() })).toMatchObject(accepted);
  });

  const ends: [status: unknown, task: string, order: string, reservation: string][] = [
    ['success', 'success', 'reserved', 'reserved'],
    ['failed', 'failed', 'failed', 'released'],
    ['processing', 'processing', 'pending', 'reserved'],
    ['SUCCESS', 'processing', 'pending', 'reserved'],
    [1, 'processing', 'pending', 'reserved'],
    [null, 'processing', 'pending', 'reserved'],
  ];
  test.each(ends)('status %j: the task is %s, its order is %s', async (status, task, order, reservation) => {
    expect(await post(signed(inner('T1', status, { message: 'no space' })))).toMatchObject(accepted);
    expect((await bench.task('T1', 'reserve')).status).toBe(task);
    const last_error = task === 'failed' ? 'no space' : '';
    expect(await bench.statusesOf('T1')).toEqual({ order, state: order, reservation, last_error });
    expect(await bench.statusesOf('T2')).toMatchObject({ order: 'pending' });
  });

  test.each([
    ['confirm', 'confirmed'],
    ['deduct', 'confirmed'],
    ['release', 'released'],
    ['restore', 'released'],
  ] as [TaskAction, string][])('a %s that succeeded makes the order %s', async (action, order) => {
    await bench.orders(['T3'], [action]);
    await post(signed(inner('', 'success', { request_id: bench.requestId('T3', action) })));
    expect(await bench.statusesOf('T3')).toMatchObject({ order, state: order });
  });

  test('fields outside the signed body are ignored', async () => {
    const forged = { request_id: bench.requestId('T2', 'reserve'), status: 'failed', callback_id: 'x', message: 'y' };
    expect(await post({ ...signed(inner('T1')), ...forged })).toMatchObject(accepted);
    expect((await bench.task('T1', 'reserve')).status).toBe('success');
    expect((await bench.task('T2', 'reserve')).status).toBe('pending');
  });

  test('its message is stored without the secret and without characters that PostgreSQL cannot store', async () => {
    const message = `bad\0 \ud800 ${appSecret} ${'long '.repeat(200)}`;
    expect(await post(signed(inner('T1', 'failed', { message })))).toMatchObject(accepted);
    const { last_error } = await bench.task('T1', 'reserve');
    expect(last_error).toMatch(/^bad/);
    expect(last_error.length).toBeLessThanOrEqual(500);
    expect(last_error).not.toContain(appSecret);
  });
});

describe('a repeat', () => {
  test('of the same message is refused for its nonce, also with another signature', async () => {
    const message = signed(inner('T1'));
    expect(await post(message)).toMatchObject(accepted);
    expect(await post(message)).toMatchObject({ code: 409, message: 'nonce: was used before' });
    expect(await post(signed(inner('T2'), { nonce: message.nonce }))).toMatchObject({ code: 409 });
    expect((await bench.task('T2', 'reserve')).status).toBe('pending');
    expect(await traces()).toEqual({ nonces: 1, callbacks: 1, moved: 1 });
  });

  test('with the same callback_id is counted and changes nothing, also with another status', async () => {
    const first = inner('T1', 'success');
    await post(signed(first));
    const before = await bench.task('T1', 'reserve');
    for (const status of ['failed', 'success', 'processing'])
      expect(await post(signed({ ...first, status }))).toMatchObject(accepted);
    expect(await bench.task('T1', 'reserve')).toEqual(before);
    expect(await callbackRow(first.callback_id)).toMatchObject({ outcome: 'applied', seen: 4, status: 'success' });
  });

  test('of a message without callback_id is recognized by its content', async () => {
    const content = { request_id: bench.requestId('T1', 'reserve'), status: 'processing' };
    expect(await post(signed(content))).toMatchObject(accepted);
    expect(await post(signed(content))).toMatchObject(accepted);
    expect(await traces()).toMatchObject({ callbacks: 1, nonces: 2 });
    await post(signed({ ...content, status: 'failed' }));
    expect(await bench.statusesOf('T1')).toMatchObject({ order: 'failed' });
  });

  test('fifty at once with one callback_id: one takes effect', async () => {
    const content = inner('T1', 'success');
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(signed(content))));
    expect(answers.every((answer) => answer.code === 0)).toBe(true);
    expect(await callbackRow(content.callback_id)).toMatchObject({ outcome: 'applied', seen: 50 });
  });

  test('fifty identical messages at once: one is accepted', async () => {
    const message = signed(inner('T1', 'success'));
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(message)));
    expect(answers.map((answer) => answer.code).toSorted()).toEqual([0, ...Array(49).fill(409)]);
    expect(await traces()).toEqual({ nonces: 1, callbacks: 1, moved: 1 });
  });

  test('with one callback_id for two tasks at the same time: one task gets it, the other callback is refused', async () => {
    const callback_id = randomUUID();
    const message = (no: string) => ({
      ...inner(no),
      callback_id,
      status: 'success' as const,
      body: '{}',
      nonce: randomUUID(),
    });
    let both: Promise<unknown[][]> | undefined;
    await bench.sql.begin(async (tx) => {
      // Both transactions read before either can write.
      await tx`lock table inventory.external_callbacks in share mode`;
      both = Promise.all(['T1', 'T2'].map((no) => receiveCallbacks(bench.deps, [message(no)])));
      await bench.lockWaits(2);
    });
    // A partner that numbers its callbacks per task gets a refusal. Otherwise all but its first callback would be ignored.
    const answers = (await both!).flat();
    expect(answers.filter((answer) => !(answer instanceof Error))).toEqual([{ received: true }]);
    expect(answers.find((answer) => answer instanceof Error)).toMatchObject({
      refusalName: 'callback_id_used',
      code: 409,
    });
    expect((await traces())?.moved).toBe(1);
    expect(await callbackRow(callback_id)).toMatchObject({ seen: 1 });
  });
});

describe('in one batch', () => {
  const message = (no: string, status: 'success' | 'failed' | 'processing', more: Outer = {}) =>
    ({ ...inner(no, status), body: '{}', nonce: randomUUID(), ...more }) as Parameters<
      typeof receiveCallbacks
    >[1][number];

  test('messages are applied in the order of their arrival', async () => {
    const again = message('T1', 'success');
    const batch = [
      message('T1', 'processing'),
      again,
      { ...again, nonce: randomUUID() },
      message('T1', 'failed'),
      message('T2', 'failed'),
    ];
    expect(await receiveCallbacks(bench.deps, batch)).toEqual(batch.map(() => ({ received: true })));
    expect(await bench.task('T1', 'reserve')).toMatchObject({ status: 'success', last_callback_id: again.callback_id });
    expect(await callbackRow(again.callback_id)).toMatchObject({ seen: 2, outcome: 'applied' });
    expect(await callbackRow(batch[3]!.callback_id)).toMatchObject({ outcome: 'ignored' });
    expect(await bench.statusesOf('T2')).toMatchObject({ order: 'failed' });
  });

  test('a callback whose write fails does not affect the others', async () => {
    const { sql } = bench;
    await sql.unsafe(`
      create function inventory.poison() returns trigger language plpgsql as $$
      begin if new.biz_no = 'T2' then raise exception 'poison'; end if; return new; end $$;
      create trigger poison before update on inventory.inventory_integration_tasks for each row execute function inventory.poison()`);
    try {
      const answers = await Promise.all([post(signed(inner('T1'))), post(signed(inner('T2')))]);
      expect(answers.map((answer) => answer.code)).toEqual([0, 500]);
      expect(await bench.statusesOf('T1')).toMatchObject({ order: 'reserved' });
      expect(await traces()).toEqual({ nonces: 1, callbacks: 1, moved: 1 });
    } finally {
      await sql.unsafe('drop function inventory.poison cascade');
    }
  });
});

test('a callback about an unknown task is refused and stored; the same message is accepted when the task exists', async () => {
  const content = inner('T9', 'success');
  const message = signed(content);
  const unknown = { code: 500, message: 'request_id: there is no task order:T9:reserve' };
  expect(await post(message)).toMatchObject({ status: 200, ...unknown });
  expect(await post(signed(content))).toMatchObject(unknown);
  expect(await callbackRow(content.callback_id)).toMatchObject({ outcome: 'unknown_task', seen: 2, task_id: null });
  await bench.orders(['T9'], ['reserve']);
  expect(await post(message)).toMatchObject(accepted);
  const { id } = await bench.task('T9', 'reserve');
  expect(await callbackRow(content.callback_id)).toMatchObject({ outcome: 'applied', seen: 3, task_id: id });
  expect(await bench.statusesOf('T9')).toMatchObject({ order: 'reserved' });
  expect(await post(signed({ ...content, status: 'failed' }))).toMatchObject(accepted);
  expect(await bench.statusesOf('T9')).toMatchObject({ order: 'reserved' });
});

test('nonces are deleted when messages with them are too old to be accepted', async () => {
  const { sql } = bench;
  const message = signed(inner('T1', 'processing'));
  await post(message);
  await forgetNonces(sql, new Date(+bench.now() - 600_000));
  expect(await post(message)).toMatchObject({ code: 409 });
  // The nonce is not deleted yet, but so old that it is free.
  await sql`update inventory.external_nonces set used_at = ${new Date(+bench.now() - 601_000)}`;
  expect(await post(signed(inner('T1', 'processing'), { nonce: message.nonce }))).toMatchObject(accepted);
  await sql`update inventory.external_nonces set used_at = ${new Date(+bench.now() - 601_000)}`;
  await forgetNonces(sql, new Date(+bench.now() - 600_000));
  expect(await traces()).toMatchObject({ nonces: 0 });
});

describe('the tasks in the back office', () => {
  const list = (query = '') => request('GET', `/admin/api/inventory/tasks${query}`, { token: 'staff' });

  test('are listed newest first, at most fifty, by status, document or action', async () => {
    await bench.add(Array.from({ length: 60 }, (_, n) => orderTask(`L${n}`, 'confirm')));
    const all = (await list()).data;
    expect(all).toHaveLength(50);
    expect(all[0]).toMatchObject({ biz_no: 'L59', action: 'confirm', status: 'pending', payload: expect.any(String) });
    expect(JSON.parse(all[0].payload)).toEqual({ biz_type: 'order', biz_no: 'L59' });
    expect(all[0].next_retry_at).toMatch(/\+08:00$/);
    expect((await list('?biz_no=T1')).data.map((row: Outer) => row.request_id)).toEqual(['order:T1:reserve']);
    expect((await list('?action=reserve&status=')).data).toHaveLength(2);
    expect((await list('?status=failed')).data).toEqual([]);
    expect(await list('?status=lost')).toMatchObject({ code: 400, message: expect.stringMatching(/^status: /) });
  });

  test('are refused without the permission system:config', async () => {
    expect(await request('GET', '/admin/api/inventory/tasks', { token: 'other' })).toMatchObject({ code: 403 });
    const path = '/admin/api/inventory/tasks/1/retry';
    expect(await request('POST', path, { token: 'other' })).toMatchObject({ code: 403 });
  });

  test('a failed task is retried once per key; another task is refused', async () => {
    await post(signed(inner('T1', 'failed')));
    const { id } = await bench.task('T1', 'reserve');
    const retry = (of: number, key = randomUUID()) =>
      request('POST', `/admin/api/inventory/tasks/${of}/retry`, { token: 'staff', key });
    const key = randomUUID();
    expect(await retry(id, key)).toMatchObject({ code: 0, data: { retried: id } });
    expect(await retry(id, key)).toMatchObject({ code: 0, data: { retried: id } });
    expect(await retry(id)).toMatchObject({ code: 409, message: expect.stringContaining('pending') });
    expect(await retry(2 ** 40)).toMatchObject({ code: 404 });
    expect(await bench.statusesOf('T1')).toMatchObject({ order: 'pending', reservation: 'reserved' });
    await post(signed(inner('T1', 'failed')));
    const many = await Promise.all(Array.from({ length: 10 }, () => retry(id)));
    expect(many.map((answer) => answer.code).toSorted()).toEqual([0, ...Array(9).fill(409)]);
  });
});
