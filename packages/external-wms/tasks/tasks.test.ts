import { type Behaviour, json, type Received, raw } from '@tradepost/testing/servers/warehouse-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Callback, receiveCallbacks } from '../callbacks/receive-callbacks.ts';
import type { TaskAction } from '../protocol/actions.ts';
import { openTaskBench, orderTask, type TaskBench } from '../testing/warehouse-tasks.ts';
import { failTasks, retryTasks } from './manage-tasks.ts';
import { finishPreReservations } from './pre-reservation-store.ts';
import type { NewTask, TaskStatus } from './task.ts';
import { claimDueTasks } from './task-claim-store.ts';
import { selectTask } from './task-list-store.ts';
import { orderStatuses } from './task-order-store.ts';
import { insertTasks } from './task-store.ts';

/** Tasks for an external warehouse: each takes effect once, in order, and ends. */
let bench: TaskBench;
beforeAll(async () => {
  bench = await openTaskBench();
});
afterAll(() => bench?.close());
beforeEach(async () => {
  bench.partner.calls.length = 0;
  bench.partner.behave = json({ code: 0 });
  await bench.runtime.settings.set('external_wms.callback_enabled', false);
});
afterEach(async () => {
  const { sql } = bench;
  // No task is between two states, and the stock ledger agrees with the orders.
  expect(
    await sql`select id, status from inventory.inventory_integration_tasks
              where status = 'processing' and lock_expires_at <> next_retry_at`,
  ).toEqual([]);
  expect(
    await sql`select o.order_no from orders.orders o join inventory.order_inventory_state s using (order_no)
              where s.status <> o.inventory_status`,
  ).toEqual([]);
  await sql`truncate inventory.inventory_integration_tasks, inventory.external_callbacks, inventory.external_nonces,
    inventory.order_inventory_state, inventory.inventory_reservation, orders.orders`;
});

const answers = (code: number, message = ''): Behaviour => json({ code, message });
const keyOf = (call: Received) => String(call.headers['idempotency-key']);
const numbers = (count: number) => Array.from({ length: count }, (_, n) => `N${String(n).padStart(4, '0')}`);
let nonces = 0;
const callback = (biz_no: string, action: TaskAction, status: Callback['status'], more: Partial<Callback> = {}) => {
  nonces += 1;
  const callback_id = `cb-${nonces}`;
  const request_id = bench.requestId(biz_no, action);
  return { request_id, callback_id, status, message: '', body: '{}', nonce: `n-${nonces}`, ...more };
};
const call = (...callbacks: Callback[]) => receiveCallbacks(bench.deps, callbacks);

describe('two workers on the same tasks', () => {
  test('each task is delivered once', async () => {
    const all = numbers(400);
    await bench.orders(all, ['reserve']);
    const counts = await Promise.all([bench.worker(), bench.worker()].map((worker) => worker.deliver({ batch: 20 })));
    expect(bench.sentKeys().toSorted()).toEqual(all.map((no) => bench.requestId(no, 'reserve')));
    expect(counts.reduce((sum, count) => sum + count.succeeded, 0)).toBe(400);
    expect(counts.every((count) => count.delivered > 0)).toBe(true);
    expect(await bench.statusesOf('N0399')).toMatchObject({
      order: 'reserved',
      state: 'reserved',
      reservation: 'reserved',
    });
  });

  test('reserve, confirm and release of an order keep their order when calls fail', async () => {
    const orders = numbers(60);
    const actions: TaskAction[] = ['reserve', 'confirm', 'release'];
    await bench.orders(orders, actions, { maxAttempts: 100, backoffSeconds: 0 });
    const open = new Set<string>();
    const done: string[] = [];
    const overlaps: string[] = [];
    bench.partner.behave = (received, response) => {
      const key = keyOf(received);
      const order = key.split(':')[1]!;
      if (open.has(order)) overlaps.push(key);
      open.add(order);
      const succeeds = Math.random() < 0.7;
      setTimeout(() => {
        open.delete(order);
        if (succeeds) done.push(key);
        const failure = Math.random() < 0.5 ? answers(1001) : raw('<html>', 502);
        (succeeds ? json({ code: 0 }) : failure)(received, response);
      }, Math.random() * 5);
    };
    await Promise.all([bench.worker(), bench.worker()].map((worker) => worker.deliver({ batch: 15 })));
    // One more poll, for a task that was postponed at the moment in which it became due.
    bench.pass(6);
    await bench.worker().deliver();
    expect(overlaps).toEqual([]);
    for (const no of orders)
      expect(done.filter((key) => key.includes(no))).toEqual(actions.map((action) => bench.requestId(no, action)));
    expect(await bench.statusesOf('N0007')).toMatchObject({ order: 'released' });
    const rows = await bench.sql`select distinct status from inventory.inventory_integration_tasks`;
    expect(rows).toEqual([{ status: 'success' }]);
  });
});

describe('a failed attempt', () => {
  test('is repeated after the back-off with the same key; after the last attempt the task is failed', async () => {
    await bench.orders(['A1'], ['reserve']);
    bench.partner.behave = answers(1003, 'lock conflict');
    const worker = bench.worker();
    expect(await worker.deliver()).toMatchObject({
      delivered: 1,
      retried: 1,
      nextDue: new Date(+bench.now() + 30_000),
    });
    expect(await bench.task('A1', 'reserve')).toMatchObject({ status: 'pending', attempt_count: 1, last_code: 1003 });
    bench.pass(29.9);
    expect(await worker.deliver()).toMatchObject({ delivered: 0 });
    expect(await bench.statusesOf('A1')).toMatchObject({ order: 'pending' });
    bench.pass(0.1);
    expect(await worker.deliver()).toMatchObject({ delivered: 1, retried: 1 });
    bench.pass(30);
    expect(await worker.deliver()).toMatchObject({ delivered: 1, failed: 1, nextDue: null });
    expect(new Set(bench.sentKeys())).toEqual(new Set(['order:A1:reserve']));
    expect(await bench.task('A1', 'reserve')).toMatchObject({
      status: 'failed',
      attempt_count: 3,
      last_error: 'lock conflict',
    });
    expect(await bench.statusesOf('A1')).toEqual({
      ...{ order: 'failed', state: 'failed', last_error: 'lock conflict', reservation: 'released' },
    });
    bench.pass(1_000);
    expect(await worker.deliver()).toMatchObject({ delivered: 0 });
  });

  test('with a final code fails the task at once, and the next task is delivered', async () => {
    await bench.orders(['A2'], ['reserve', 'release']);
    bench.partner.behave = (received, response) =>
      (received.path === '/reserve' ? answers(4003, 'out of stock') : answers(0))(received, response);
    await bench.worker().deliver();
    expect(bench.sentKeys()).toEqual(['order:A2:reserve', 'order:A2:release']);
    expect(await bench.task('A2', 'reserve')).toMatchObject({ status: 'failed', attempt_count: 1, last_code: 4003 });
    expect(await bench.statusesOf('A2')).toMatchObject({ order: 'released', state: 'released', last_error: '' });
  });

  test('makes the order failed at once, also while a later task is open', async () => {
    await bench.orders(['A3'], ['reserve', 'confirm']);
    bench.partner.behave = (received, response) =>
      (received.path === '/reserve' ? answers(4003, 'out of stock') : answers(1001))(received, response);
    await bench.worker().deliver();
    expect(await bench.task('A3', 'confirm')).toMatchObject({ status: 'pending', attempt_count: 1 });
    expect(await bench.statusesOf('A3')).toMatchObject({ order: 'failed', last_error: 'out of stock' });
  });

  test('without an answer of the protocol is repeated, because the outcome is unknown', async () => {
    const bad: Behaviour[] = [
      raw('<html>busy</html>'),
      raw('{"code":"0"}'),
      raw('{"code":0', 200),
      json({ code: 4003 }, 500),
      (received) => received.socket.destroy(),
    ];
    for (const [index, behaviour] of bad.entries()) {
      const no = `B${index}`;
      await bench.orders([no], ['reserve']);
      bench.partner.behave = behaviour;
      expect(await bench.worker().deliver(), no).toMatchObject({ delivered: 1, retried: 1 });
      expect((await bench.task(no, 'reserve')).last_error).not.toBe('');
    }
  });
});

describe('with callbacks', () => {
  beforeEach(() => bench.runtime.settings.set('external_wms.callback_enabled', true));

  test('code 0 means accepted; the callback ends the task and makes the next task due', async () => {
    await bench.orders(['C1'], ['reserve', 'confirm']);
    const worker = bench.worker();
    expect(await worker.deliver()).toMatchObject({ delivered: 1, accepted: 1, succeeded: 0 });
    expect(await bench.task('C1', 'reserve')).toMatchObject({ status: 'processing', lock_owner: null });
    expect(await bench.statusesOf('C1')).toMatchObject({ order: 'pending' });
    expect(await call(callback('C1', 'reserve', 'success'))).toEqual([{ received: true }]);
    expect(await bench.task('C1', 'reserve')).toMatchObject({ status: 'success', last_callback_id: `cb-${nonces}` });
    expect(await bench.statusesOf('C1')).toMatchObject({ order: 'pending' });
    expect(await worker.deliver()).toMatchObject({ accepted: 1 });
    await call(callback('C1', 'confirm', 'success'));
    expect(await bench.statusesOf('C1')).toMatchObject({ order: 'confirmed', state: 'confirmed' });
  });

  test('a callback that makes a task due enqueues a delivery', async () => {
    await bench.orders(['C9'], ['reserve', 'confirm']);
    await bench.worker().deliver();
    await bench.sql`delete from graphile_worker._private_jobs`;
    await call(callback('C9', 'reserve', 'success'));
    expect(await bench.sql`select 1 from graphile_worker._private_jobs`).toHaveLength(1);
  });

  test('in sync mode code 0 ends the task', async () => {
    await bench.orders(['C2'], ['confirm']);
    expect(await bench.worker('w', 'sync').deliver()).toMatchObject({ accepted: 0, succeeded: 1 });
    expect(await bench.statusesOf('C2')).toMatchObject({ order: 'confirmed' });
  });

  test('a callback may arrive before the answer', async () => {
    await bench.orders(['C3', 'C4'], ['reserve']);
    bench.partner.behave = (received, response) => {
      const no = keyOf(received).split(':')[1]!;
      const early = callback(no, 'reserve', no === 'C3' ? 'success' : 'failed', { message: 'no room' });
      void call(early).then(() => json({ code: 0 })(received, response));
    };
    expect(await bench.worker().deliver()).toMatchObject({ delivered: 2, accepted: 0, succeeded: 0 });
    expect(await bench.statusesOf('C3')).toMatchObject({ order: 'reserved' });
    expect(await bench.statusesOf('C4')).toMatchObject({
      order: 'failed',
      last_error: 'no room',
      reservation: 'released',
    });
  });

  test('without a callback a task is delivered again with the same key, and each delivery counts as an attempt', async () => {
    await bench.orders(['C5'], ['reserve'], { maxAttempts: 2 });
    const worker = bench.worker();
    await worker.deliver();
    bench.pass(119);
    expect(await worker.deliver()).toMatchObject({ delivered: 0 });
    bench.pass(1);
    expect(await worker.deliver()).toMatchObject({ delivered: 1, accepted: 1 });
    expect(bench.sentKeys()).toEqual(['order:C5:reserve', 'order:C5:reserve']);
    expect(await bench.task('C5', 'reserve')).toMatchObject({ status: 'processing', attempt_count: 2 });
    bench.pass(120);
    expect(await worker.deliver()).toMatchObject({ delivered: 0, failed: 1 });
    expect(await bench.task('C5', 'reserve')).toMatchObject({
      status: 'failed',
      last_error: 'no callback within 120 s',
    });
    expect(await bench.statusesOf('C5')).toMatchObject({ order: 'failed' });
  });

  test('later callbacks do not change a task that has ended', async () => {
    await bench.orders(['C6'], ['reserve'], { maxAttempts: 1 });
    await bench.worker().deliver();
    await call(callback('C6', 'reserve', 'failed', { message: 'no' }));
    const before = await bench.task('C6', 'reserve');
    expect(await call(callback('C6', 'reserve', 'success'), callback('C6', 'reserve', 'processing'))).toEqual([
      { received: true },
      { received: true },
    ]);
    expect(await bench.task('C6', 'reserve')).toEqual(before);
    expect(await bench.statusesOf('C6')).toMatchObject({ order: 'failed' });
    expect((await selectTask(bench.sql, before.id))?.callbacks.map((row) => row.outcome)).toEqual(
      expect.arrayContaining(['applied', 'ignored', 'ignored']),
    );
  });

  test('the callback status processing renews the deadline', async () => {
    await bench.orders(['C7'], ['reserve']);
    await bench.worker().deliver();
    bench.pass(100);
    await call(callback('C7', 'reserve', 'processing'));
    bench.pass(100);
    expect(await bench.worker().deliver()).toMatchObject({ delivered: 0 });
    bench.pass(20);
    expect(await bench.worker().deliver()).toMatchObject({ delivered: 1 });
  });

  test('an order that is paid while the callback of its reserve is stored stays pending until its confirm', async () => {
    const { sql } = bench;
    await bench.orders(['C8'], ['reserve']);
    await bench.worker().deliver();
    let taken: Promise<unknown> | undefined;
    // The same writes as a payment: the order first, then the state and the next task.
    await sql.begin(async (tx) => {
      await tx`update orders.orders set status = 2, paid_at = now(), inventory_status = 'pending' where order_no = 'C8'`;
      taken = call(callback('C8', 'reserve', 'success'));
      await bench.lockWaits(1);
      await tx`update inventory.order_inventory_state set status = 'pending' where order_no = 'C8'`;
      await insertTasks(tx, [orderTask('C8', 'confirm')], {
        ...{ mode: 'async', maxAttempts: 3, backoffSeconds: 30, now: bench.now() },
      });
    });
    await taken;
    expect((await bench.task('C8', 'reserve')).status).toBe('success');
    expect(await bench.statusesOf('C8')).toMatchObject({ order: 'pending', state: 'pending' });
  });
});

describe('a worker that dies or stops', () => {
  const claimAs = (owner: string) =>
    claimDueTasks(bench.sql, {
      ...{ owner, now: bench.now(), batch: 100 },
      lockedTo: new Date(+bench.now() + 60_000),
      postponedTo: new Date(+bench.now() + 5_000),
    });

  test('leaves its tasks to another worker when their locks expire; its attempt counts', async () => {
    await bench.orders(['D1'], ['reserve']);
    expect((await claimAs('dead')).claimed).toHaveLength(1);
    expect(await bench.worker().deliver()).toMatchObject({ delivered: 0 });
    bench.pass(60);
    expect(await bench.worker().deliver()).toMatchObject({ delivered: 1, succeeded: 1 });
    expect(await bench.task('D1', 'reserve')).toMatchObject({ status: 'success', attempt_count: 2 });
  });

  test('at the last attempt: the task is failed and not called again', async () => {
    await bench.orders(['D2'], ['reserve'], { maxAttempts: 1 });
    await claimAs('dead');
    bench.pass(60);
    expect(await bench.worker().deliver()).toMatchObject({ delivered: 0, failed: 1 });
    expect(await bench.statusesOf('D2')).toMatchObject({ order: 'failed', reservation: 'released' });
  });

  test('and continues too late: its answer changes nothing', async () => {
    await bench.orders(['D3'], ['reserve']);
    let answer = () => {};
    bench.partner.behave = (received, response) => {
      answer = () => answers(4004, 'too late')(received, response);
    };
    const asked = bench.partner.received(1);
    const slow = bench.worker().deliver();
    await asked;
    bench.pass(120);
    bench.partner.behave = json({ code: 0 });
    expect(await bench.worker().deliver()).toMatchObject({ succeeded: 1 });
    answer();
    expect(await slow).toMatchObject({ delivered: 1, failed: 0 });
    expect(await bench.statusesOf('D3')).toMatchObject({ order: 'reserved' });
  });

  test('and continues while another worker calls: its answer does not decide the new attempt', async () => {
    await bench.orders(['D4'], ['reserve']);
    const open: (() => void)[] = [];
    const answer =
      (code: number): Behaviour =>
      (received, response) =>
        void open.push(() => json({ code })(received, response));
    bench.partner.behave = answer(4004);
    const worker = bench.worker();
    const first = bench.partner.received(1);
    const slow = worker.deliver();
    await first;
    bench.pass(120);
    bench.partner.behave = answer(0);
    const second = bench.partner.received(2);
    // The same process claims the task again.
    const again = worker.deliver();
    await second;
    open[0]!();
    expect(await slow).toMatchObject({ delivered: 1, failed: 0 });
    expect((await bench.task('D4', 'reserve')).status).toBe('processing');
    open[1]!();
    expect(await again).toMatchObject({ succeeded: 1 });
    expect(await bench.statusesOf('D4')).toMatchObject({ order: 'reserved' });
  });

  test('finishes its calls when it is stopped; the other tasks are released without an attempt', async () => {
    await bench.orders(numbers(10), ['reserve']);
    const stop = new AbortController();
    const held: (() => void)[] = [];
    bench.partner.behave = (received, response) => void held.push(() => json({ code: 0 })(received, response));
    const asked = bench.partner.received(2);
    const stopped = bench.worker().deliver({ signal: stop.signal, concurrency: 2 });
    await asked;
    stop.abort();
    for (const answer of held) answer();
    expect(await stopped).toMatchObject({ delivered: 2, succeeded: 2 });
    const rows = await bench.sql`
      select status, attempt_count, count(*)::int as n from inventory.inventory_integration_tasks group by 1, 2 order by 1`;
    expect(rows).toEqual([
      { status: 'pending', attempt_count: 0, n: 8 },
      { status: 'success', attempt_count: 1, n: 2 },
    ]);
    bench.partner.behave = json({ code: 0 });
    expect(await bench.worker().deliver()).toMatchObject({ delivered: 8, succeeded: 8 });
  });
});

describe('a pre-reservation', () => {
  const preReserve = async (no: string) => {
    const lock = { owner: 'api', expiresAt: new Date(+bench.now() + 60_000) };
    await bench.add([orderTask(no, 'reserve')], { mode: 'sync', maxAttempts: 1, lock });
  };

  test('is released when its order was not written in time; the order cannot be written any more', async () => {
    await preReserve('E1');
    expect(await bench.worker().deliver()).toMatchObject({ delivered: 0, abandoned: 0 });
    bench.pass(60);
    expect(await bench.worker().deliver()).toMatchObject({ delivered: 1, abandoned: 1, succeeded: 1, failed: 0 });
    expect(bench.sentKeys()).toEqual(['order:E1:release']);
    expect(JSON.parse(String(bench.partner.calls[0]!.body))).toEqual({
      ...{ biz_type: 'order', biz_no: 'E1', reason: 'order_not_written', request_id: 'order:E1:release' },
    });
    expect(await bench.task('E1', 'reserve')).toMatchObject({
      status: 'failed',
      last_error: 'the order was not written',
    });
    await expect(
      bench.sql.begin(async (tx) => {
        await finishPreReservations(tx, ['E1'], bench.now());
      }),
    ).rejects.toThrow('given up');
  });

  test('is not ended by a callback, because its order may never be written', async () => {
    await preReserve('E2');
    expect(await call(callback('E2', 'reserve', 'success'))).toEqual([{ received: true }]);
    expect((await bench.task('E2', 'reserve')).status).toBe('processing');
    bench.pass(60);
    expect(await bench.worker().deliver()).toMatchObject({ abandoned: 1 });
  });

  test('cannot be retried or failed by an operator', async () => {
    await preReserve('E3');
    const { id } = await bench.task('E3', 'reserve');
    expect((await failTasks(bench.deps, [id], 'by hand')).refused[0]?.refusal.code).toBe(409);
    bench.pass(60);
    await bench.worker().deliver();
    expect((await retryTasks(bench.deps, [id])).refused[0]?.refusal.code).toBe(409);
    expect(await retryTasks(bench.deps, { failed: true })).toEqual({ done: [], refused: [] });
  });
});

test('polls do not find tasks that wait for an earlier task', async () => {
  const pile = Array.from({ length: 1_000 }, (_, n): NewTask => {
    const biz_no = `5:${n}`;
    return { biz_type: 'sku', biz_no, action: 'sync_sku', payload: {}, sequence_key: 'sku:5' };
  });
  await bench.add(pile);
  await bench.runtime.settings.set('external_wms.callback_enabled', true);
  expect(await bench.worker().deliver()).toMatchObject({ delivered: 1, accepted: 1 });
  const due = async () => {
    const [row] = await bench.sql<{ n: number }[]>`
      select count(*)::int as n from inventory.inventory_integration_tasks where status = 'pending' and next_retry_at <= ${bench.now()}`;
    return row!.n;
  };
  expect(await due()).toBe(0);
  const first = await bench.task('5:0', 'sync_sku');
  await call(callback('', 'sync_sku', 'success', { request_id: first.request_id }));
  expect(await due()).toBe(1);
  expect(await bench.worker().deliver()).toMatchObject({ delivered: 1 });
  expect(bench.sentKeys()).toEqual(['sku:5:0:sync_sku', 'sku:5:1:sync_sku']);
});

test('a delivery for one order delivers each of its due tasks once, and no other tasks', async () => {
  await bench.orders(['F1', 'F2'], ['reserve', 'confirm'], { backoffSeconds: 0 });
  bench.partner.behave = (received, response) =>
    (received.path === '/confirm' ? answers(1001) : answers(0))(received, response);
  expect(await bench.worker().deliver({ bizNos: ['F1'] })).toMatchObject({ delivered: 2, succeeded: 1, retried: 1 });
  expect(bench.sentKeys()).toEqual(['order:F1:reserve', 'order:F1:confirm']);
});

test('a delivery for one order does not wait while another worker calls the first task', async () => {
  await bench.orders(['F3'], ['reserve', 'confirm']);
  bench.partner.behave = () => {};
  const asked = bench.partner.received(1);
  const stop = new AbortController();
  const calling = bench.worker().deliver({ signal: stop.signal });
  await asked;
  const given = AbortSignal.timeout(2_000);
  expect(await bench.worker().deliver({ bizNos: ['F3'], signal: given })).toMatchObject({ delivered: 0 });
  expect(given.aborted).toBe(false);
  for (const socket of bench.partner.connections) socket.destroy();
  expect(await calling).toMatchObject({ retried: 1 });
});

test('writing a task twice is an error', async () => {
  await bench.add([orderTask('G1', 'reserve')]);
  await expect(bench.add([orderTask('G1', 'reserve')])).rejects.toThrow('request_id');
});

describe('an operator', () => {
  const failed = async (no: string, actions: TaskAction[]) => {
    await bench.orders([no], actions);
    bench.partner.behave = answers(4004, 'no');
    await bench.worker().deliver();
    bench.partner.behave = json({ code: 0 });
    bench.partner.calls.length = 0;
  };

  test('retries a failed task with all its attempts; its order is pending and its reservation open again', async () => {
    await failed('H1', ['reserve']);
    const { id } = await bench.task('H1', 'reserve');
    expect(await retryTasks(bench.deps, [id, id, 2 ** 40])).toMatchObject({
      ...{ done: [id], refused: [{ id: 2 ** 40, refusal: { code: 404 } }] },
    });
    expect(await bench.task('H1', 'reserve')).toMatchObject({
      status: 'pending',
      attempt_count: 0,
      completed_at: null,
    });
    expect(await bench.statusesOf('H1')).toEqual({
      order: 'pending',
      state: 'pending',
      last_error: '',
      reservation: 'reserved',
    });
    expect((await retryTasks(bench.deps, [id])).refused).toMatchObject([{ id, refusal: { code: 409 } }]);
    await bench.worker().deliver();
    expect(await bench.statusesOf('H1')).toMatchObject({ order: 'reserved' });
  });

  test('cannot retry a task when a later task is done or releases the order', async () => {
    await failed('H2', ['reserve']);
    await bench.add([orderTask('H2', 'release')]);
    const { id } = await bench.task('H2', 'reserve');
    expect((await retryTasks(bench.deps, [id])).refused[0]?.refusal.message).toContain('later task');
    await bench.worker().deliver();
    expect((await retryTasks(bench.deps, [id])).done).toEqual([]);
    expect(await bench.statusesOf('H2')).toMatchObject({ order: 'released', reservation: 'released' });
  });

  test('cannot retry a task when the order is cancelled at the same time', async () => {
    await failed('H5', ['reserve']);
    const { id } = await bench.task('H5', 'reserve');
    let retried: ReturnType<typeof retryTasks> | undefined;
    await bench.sql.begin(async (tx) => {
      await tx`update orders.orders set status = 6, inventory_status = 'pending' where order_no = 'H5'`;
      retried = retryTasks(bench.deps, [id]);
      await bench.lockWaits(1);
      await tx`update inventory.order_inventory_state set status = 'pending' where order_no = 'H5'`;
      await insertTasks(tx, [orderTask('H5', 'release')], {
        ...{ mode: 'async', maxAttempts: 3, backoffSeconds: 30, now: bench.now() },
      });
    });
    expect((await retried)?.refused).toMatchObject([{ id, refusal: { code: 409 } }]);
    await bench.worker().deliver();
    expect(bench.sentKeys()).toEqual(['order:H5:release']);
    expect(await bench.statusesOf('H5')).toMatchObject({ order: 'released', reservation: 'released' });
  });

  test('retries all failed tasks in their order', async () => {
    await failed('H3', ['reserve', 'confirm']);
    expect((await retryTasks(bench.deps, { failed: true })).done).toHaveLength(2);
    await bench.worker().deliver();
    expect(bench.sentKeys()).toEqual(['order:H3:reserve', 'order:H3:confirm']);
    expect(await bench.statusesOf('H3')).toMatchObject({ order: 'confirmed', reservation: 'confirmed' });
  });

  test('fails an open task', async () => {
    await bench.orders(['H4'], ['reserve', 'confirm']);
    const { id } = await bench.task('H4', 'reserve');
    expect((await failTasks(bench.deps, [id], 'lost at the partner')).done).toEqual([id]);
    expect(await bench.statusesOf('H4')).toMatchObject({ order: 'failed', last_error: 'lost at the partner' });
    expect((await failTasks(bench.deps, [id], 'again')).refused[0]?.refusal.code).toBe(409);
    await bench.worker().deliver();
    expect(bench.sentKeys()).toEqual(['order:H4:confirm']);
  });
});

describe('the status of an order from its tasks', () => {
  type Case = [tasks: [TaskAction, TaskStatus][], failedNow: boolean, status: string];
  const cases: Case[] = [
    [[['reserve', 'pending']], false, 'pending'],
    [[['reserve', 'success']], false, 'reserved'],
    [[['reserve', 'failed']], true, 'failed'],
    [
      [
        ['reserve', 'success'],
        ['confirm', 'pending'],
      ],
      false,
      'pending',
    ],
    [
      [
        ['reserve', 'success'],
        ['confirm', 'processing'],
      ],
      false,
      'pending',
    ],
    [
      [
        ['reserve', 'success'],
        ['confirm', 'success'],
      ],
      false,
      'confirmed',
    ],
    [[['deduct', 'success']], false, 'confirmed'],
    [
      [
        ['reserve', 'success'],
        ['confirm', 'failed'],
      ],
      true,
      'failed',
    ],
    [
      [
        ['reserve', 'failed'],
        ['confirm', 'pending'],
      ],
      true,
      'failed',
    ],
    [
      [
        ['reserve', 'failed'],
        ['confirm', 'pending'],
      ],
      false,
      'pending',
    ],
    [
      [
        ['reserve', 'failed'],
        ['release', 'success'],
      ],
      false,
      'released',
    ],
    [
      [
        ['reserve', 'success'],
        ['confirm', 'success'],
        ['restore', 'success'],
      ],
      false,
      'released',
    ],
    [
      [
        ['reserve', 'processing'],
        ['release', 'success'],
      ],
      false,
      'pending',
    ],
    [
      [
        ['reserve', 'failed'],
        ['release', 'success'],
      ],
      true,
      'released',
    ],
  ];
  test.each(cases)('%j, failed in this transaction: %s -> %s', async (tasks, failedNow, status) => {
    const { sql } = bench;
    await bench.add(tasks.map(([action]) => orderTask('S1', action)));
    for (const [action, to] of tasks)
      await sql`
        update inventory.inventory_integration_tasks
        set status = ${to}, completed_at = case when ${to} in ('success', 'failed') then now() end,
            lock_expires_at = case when ${to} = 'processing' then next_retry_at end
        where action = ${action}`;
    expect(await sql`${orderStatuses(sql, ['S1'], failedNow ? ['S1'] : [])}`).toMatchObject([{ status }]);
  });
});
