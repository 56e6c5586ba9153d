import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { externalSettings, warehouseAccount } from '@tradepost/testing/external-shop';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { json as answers, raw, startWarehouseServer } from '@tradepost/testing/servers/warehouse-server';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { openSimulator, type Simulator } from '@tradepost/warehouse-simulator';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

/** The commands for a shop whose stock is at an external warehouse. No worker runs except in the commands. */
let shop: Shop;
let simulator: Simulator;
let buyer: { token: string; address_id: number };
let folder: string;
let sku: number;

beforeAll(async () => {
  simulator = await openSimulator(warehouseAccount);
  shop = await openShop({ only: 'api' }, externalSettings(simulator.url, 'async'));
  buyer = await shop.shopper();
  folder = await mkdtemp(join(tmpdir(), 'tradepost-wms-'));
  const { sku_ids } = await insertProduct(shop.database, { stocks: [1000] });
  sku = sku_ids[0]!;
});
afterAll(async () => {
  await shop?.close();
  await simulator?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await shop.database.sql`
    truncate inventory.inventory_integration_tasks, inventory.external_callbacks, inventory.external_nonces`;
  await shop.server.runtime.settings.setMany(externalSettings(simulator.url, 'async'));
  simulator.change({ failRate: 0, failCodes: [1001], delayMs: 0 });
});

const run = async (...args: string[]) => {
  const result = await runCommandInProcess(['wms', ...args, '--database-url', shop.database.url]);
  // No output contains the secret.
  expect(result.stdout + result.stderr).not.toContain(warehouseAccount.appSecret);
  return result;
};
const parsed = async (...args: string[]) => {
  const { code, stdout } = await run(...args, '--json');
  return { code, ...JSON.parse(stdout) };
};
async function order(): Promise<{ id: number; no: string; request: string }> {
  const body = { address_id: buyer.address_id, items: [{ sku_id: sku }] };
  const { data } = await shop.call('POST', '/api/v1/orders', { token: buyer.token, body });
  return { id: data.id, no: data.order_no, request: `order:${data.order_no}:reserve` };
}
const changeOrder = (id: number, verb: 'pay' | 'cancel') =>
  shop.call('POST', `/api/v1/orders/${id}/${verb}`, { token: buyer.token });
const statusOf = async (id: number) =>
  (await shop.call('GET', `/api/v1/orders/${id}`, { token: buyer.token })).data.inventory_status;
const idOf = async (request: string): Promise<string> => {
  const [row] = await shop.database.sql<{ id: number }[]>`
    select id from inventory.inventory_integration_tasks where request_id = ${request}`;
  return String(row!.id);
};
/** An order whose reservation the warehouse has refused with a final code. */
async function refusedOrder() {
  const made = await order();
  simulator.change({ failRate: 1, failCodes: [4004] });
  await run('deliver', '--once');
  simulator.change({ failRate: 0 });
  expect(await statusOf(made.id)).toBe('failed');
  return { ...made, task: await idOf(made.request) };
}

describe('tasks list', () => {
  test('lists the newest task first with its next event and last answer; filters select tasks', async () => {
    const refused = await refusedOrder();
    const open = await order();
    const { code, stdout } = await run('tasks', 'list');
    expect(code).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toMatch(/^ID +REQUEST +STATUS +ATTEMPTS +NEXT +LAST ANSWER$/);
    expect(lines[1]).toMatch(new RegExp(`^\\d+ +${open.request} +pending +0/1000 +20\\S+\\+08:00 +-$`));
    expect(lines[2]).toMatch(new RegExp(`^${refused.task} +${refused.request} +failed +1/1000 +- +4004 \\S`));
    const requests = async (...args: string[]) => {
      const found = await parsed('tasks', 'list', ...args);
      expect(found).toMatchObject({ code: 0, total: found.tasks.length });
      return found.tasks.map((task: { request_id: string }) => task.request_id);
    };
    expect(await requests('--failed')).toEqual([refused.request]);
    expect(await requests('--open')).toEqual([open.request]);
    expect(await requests('--status', 'pending')).toEqual([open.request]);
    expect(await requests('--biz-no', refused.no)).toEqual([refused.request]);
    expect(await requests('--action', 'reserve')).toHaveLength(2);
    expect(await requests('--action', 'release')).toEqual([]);
    expect((await run('tasks', 'list', '--limit', '1')).stdout).toContain('1 of 2: --limit shows more');
    expect((await run('tasks', 'list', '--action', 'deduct')).stdout).toBe('no tasks\n');
  });

  test.each([
    ['--open', '--failed'],
    ['--status', 'done'],
    ['--action', 'buy'],
    ['--limit', '0'],
  ])('wrong usage exits with 2: %s %s', async (...args) => {
    expect(await run('tasks', 'list', ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining('error:') });
  });
});

test('tasks show prints a task by id or request id, with its callbacks', async () => {
  await shop.server.runtime.settings.set('external_wms.callback_enabled', true);
  const { request } = await order();
  await writeFile(
    join(folder, 'inner.json'),
    JSON.stringify({ request_id: request, callback_id: 'cb-7', status: 'failed', message: 'out of stock' }),
  );
  await run('replay', join(folder, 'inner.json'), '--resign', '--url', shop.url);
  const byName = await run('tasks', 'show', request);
  expect(byName.code).toBe(0);
  expect(byName.stdout).toMatch(/^last error +out of stock$/m);
  expect(byName.stdout).toContain(`"items":[{"qty":1,"sku_id":${sku}}]`);
  expect(byName.stdout).toMatch(/^cb-7 +failed +applied +1 +20\S+\+08:00 +20\S+\+08:00 +out of stock$/m);
  const byId = await parsed('tasks', 'show', await idOf(request));
  expect(byId).toMatchObject({ request_id: request, status: 'failed', callbacks: [{ callback_id: 'cb-7' }] });
  expect(await run('tasks', 'show', 'order:1:reserve')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no task order:1:reserve'),
  });
});

describe('tasks retry', () => {
  test('retries failed tasks and prints the status of their orders; a refused task is named and the exit code is 1', async () => {
    const refused = await refusedOrder();
    const open = await order();
    const pending = await idOf(open.request);
    const { code, stdout, stderr } = await run('tasks', 'retry', refused.task, pending, '99999999');
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`retried: 1\\n +${refused.task} +${refused.request} +its order shows pending`));
    expect(stderr).toContain(`task ${pending}: Only a failed task can be retried: this one is pending`);
    expect(stderr).toContain('task 99999999: Task not found');
    expect(await statusOf(refused.id)).toBe('pending');
  });

  test('--failed retries all failed tasks; wrong usage exits with 2', async () => {
    const refused = await refusedOrder();
    expect(await parsed('tasks', 'retry', '--failed')).toMatchObject({
      ...{ code: 0, refused: [] },
      retried: [{ id: Number(refused.task), request_id: refused.request, order_status: 'pending' }],
    });
    expect((await run('tasks', 'retry', '--failed')).stdout).toBe('retried: no tasks\n');
    for (const args of [[], ['7', '--failed'], ['seven']])
      expect(await run('tasks', 'retry', ...args)).toMatchObject({ code: 2 });
  });
});

test('tasks fail ends open tasks, and prints what an operator must do at the warehouse', async () => {
  const { id, request } = await order();
  await changeOrder(id, 'cancel');
  const task = await idOf(request);
  const { code, stdout } = await run('tasks', 'fail', task, '--reason', 'reported by telephone');
  expect(code).toBe(0);
  expect(stdout).toMatch(/its order shows failed; the reservation has ended in the shop; .*; 1 later task follows/);
  expect(await parsed('tasks', 'show', task)).toMatchObject({ status: 'failed', last_error: 'reported by telephone' });
  expect(await statusOf(id)).toBe('failed');
  expect(await run('tasks', 'fail', task, '--reason', 'again')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('this one is failed'),
  });
  expect(await run('tasks', 'fail', task)).toMatchObject({ code: 2 });
  expect(await run('tasks', 'fail', task, '--reason', ' ')).toMatchObject({ code: 2 });
});

describe('ping', () => {
  test('prints address, time and sellable stock', async () => {
    await simulator.setStock(sku, 42);
    const { code, stdout } = await run('ping', '--sku', String(sku), '999999');
    expect(code).toBe(0);
    expect(stdout).toContain(`${simulator.url}/stock/sellable  app key ${warehouseAccount.appKey}`);
    expect(stdout).toMatch(/^ok {2}[\d.]+ ms {2}code 0, done$/m);
    expect(stdout).toMatch(new RegExp(`^${sku} +42 +0 +42$`, 'm'));
    await insertProduct(shop.database);
    expect((await parsed('ping')).asked).toHaveLength(2);
  });

  const set = (values: Record<string, unknown>) => shop.server.runtime.settings.setMany(values);
  /** The message and the advice of a ping with these settings. */
  async function fault(values: Record<string, unknown>) {
    await set(values);
    const result = await parsed('ping', '--sku', '7');
    const text = await run('ping', '--sku', '7');
    expect([result.ok, text.code]).toEqual([false, 1]);
    expect(text.stdout).toContain(result.message);
    return `${result.message} -> ${result.advice}`;
  }

  test('a warehouse that is not configured, not reachable or not of the protocol: each has its advice', async () => {
    expect(await fault({ 'external_wms.endpoint': '', 'external_wms.app_key': '' })).toMatch(
      /external_wms.endpoint, external_wms.app_key are not set -> tradepost settings set external_wms.endpoint/,
    );
    await set(externalSettings(simulator.url, 'async'));
    expect(await fault({ 'external_wms.endpoint': 'http://127.0.0.1:1/wms' })).toMatch(
      /connection refused.* -> check that the warehouse runs/,
    );
    await set(externalSettings(simulator.url, 'async'));
    expect(await fault({ 'external_wms.app_secret': 'another' })).toMatch(/X-Sign.* -> .*app_secret/);
    const other = await startWarehouseServer();
    const { url: endpoint } = other;
    try {
      other.behave = raw('<html>hello</html>');
      expect(await fault({ 'external_wms.endpoint': endpoint })).toMatch(
        /not JSON -> the answer is not of the protocol/,
      );
      other.behave = raw('gone', 404);
      expect(await fault({})).toMatch(/HTTP 404 -> the path does not exist/);
      other.behave = answers({ code: 0, data: { secret: warehouseAccount.appSecret } });
      expect(await fault({})).toMatch(/code 0, but `data` is not a list/);
      other.behave = answers({ code: 1001, message: `busy with ${warehouseAccount.appSecret}` });
      expect(await fault({ 'external_wms.app_secret': warehouseAccount.appSecret })).toMatch(
        /busy with \*\*\* -> .*refuses/,
      );
      other.behave = () => {};
      expect(await fault({ 'external_wms.timeout_ms': 100 })).toMatch(/no answer within 100 ms -> .*timeout_ms/);
    } finally {
      await other.close();
      await set({ 'external_wms.timeout_ms': 3_000 });
    }
  });

  test.each([['0'], ['x'], ['-1']])('wrong usage exits with 2: --sku %s', async (id) => {
    expect(await run('ping', '--sku', id)).toMatchObject({ code: 2 });
  });
});

describe('deliver --once', () => {
  test('delivers until no task is due, and prints the counts', async () => {
    const [one, two] = [await order(), await order()];
    await changeOrder(two.id, 'cancel');
    const { code, stdout } = await run('deliver', '--once');
    expect(code).toBe(0);
    expect(stdout).toContain('3 calls: 3 succeeded, 0 accepted, 0 to be retried, 0 failed\nno task is open\n');
    expect([await statusOf(one.id), await statusOf(two.id)]).toEqual(['reserved', 'released']);
    expect(simulator.seen(one.request)).toBe(1);
  });

  test('a task that waits for a retry leaves exit code 0, a failed task makes it 1', async () => {
    await shop.server.runtime.settings.set('external_wms.retry.backoff_seconds', 600);
    await order();
    simulator.change({ failRate: 1, failCodes: [1001] });
    const waiting = await run('deliver', '--once');
    expect(waiting.code).toBe(0);
    expect(waiting.stdout).toMatch(/1 to be retried, 0 failed\n1 task is open, the next is due in (600|59\d) s/);
    simulator.change({ failCodes: [4004] });
    await order();
    expect(await parsed('deliver', '--once')).toMatchObject({
      ...{ code: 1, delivered: 1, succeeded: 0, failed: 1, open: 1, due: 0, failed_in_all: 1, stopped: false },
    });
  });

  test('a long run prints its progress', async () => {
    await order();
    simulator.change({ delayMs: 1_500 });
    expect((await run('deliver', '--once')).stderr).toMatch(/0 calls made; 1 task is open/);
  });

  test('missing settings exit with 2; another provider without open tasks has nothing to deliver', async () => {
    const { settings } = shop.server.runtime;
    await order();
    await settings.set('external_wms.app_key', '');
    expect(await run('deliver', '--once')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('external_wms.app_key'),
    });
    await settings.set('external_wms.app_key', warehouseAccount.appKey);
    await settings.set('inventory.provider', 'local');
    expect((await run('deliver', '--once')).stdout).toContain('1 call: 1 succeeded');
    const idle = await run('deliver');
    expect([idle.code, idle.stdout]).toEqual([0, expect.stringContaining('inventory.provider is not external_wms')]);
    // The command does not migrate the stock: the provider of the running server stays active.
    const [state] = await shop.database.sql`select provider from inventory.provider_state`;
    expect(state).toEqual({ provider: 'external_wms' });
  });
});

describe('replay', () => {
  beforeEach(() => shop.server.runtime.settings.set('external_wms.callback_enabled', true));
  const replay = (...args: string[]) => run('replay', '--url', shop.url, ...args);
  const file = async (name: string, value: unknown) => {
    await writeFile(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value));
    return join(folder, name);
  };
  const fixture = (name: string) => join(import.meta.dirname, `../../../fixtures/callbacks/${name}.json`);
  const inner = (request_id: string, callback_id: string, status = 'success') => ({
    request_id,
    callback_id,
    status,
    message: '',
  });
  const keys = { 'external_wms.app_key': 'demo-key', 'external_wms.app_secret': 'demo-secret' };

  test('recorded callbacks are sent as they are, or signed again with --resign', async () => {
    const { request, id } = await order();
    const path = await file('mine.json', [
      inner(request, 'cb-1'),
      { body: JSON.stringify(inner(request, 'cb-1')), sign: 'x' },
    ]);
    const { code, stdout } = await replay(path, '--resign');
    expect(code).toBe(0);
    expect(stdout.match(new RegExp(`^${request} +cb-1 +success +accepted$`, 'gm'))).toHaveLength(2);
    expect(stdout).toContain('2 accepted, 0 refused');
    expect(await statusOf(id)).toBe('reserved');
    const [row] = await shop.database.sql`select seen from inventory.external_callbacks where callback_id = 'cb-1'`;
    expect(row).toEqual({ seen: 2 });
    const old = await replay(fixture('success'));
    expect([old.code, old.stdout, old.stderr]).toEqual([
      ...[1, expect.stringContaining('refused: code 400, app_key'), expect.stringContaining('--resign')],
    ]);
  });

  test.each([
    ['success', 1],
    ['failed', 1],
    ['processing', 1],
    ['repeated', 2],
  ])('fixture %s is signed with the demo key; only its timestamp is too old', async (name, count) => {
    await shop.server.runtime.settings.setMany(keys);
    const { callbacks, code } = await parsed('replay', fixture(name), '--dry-run');
    expect(code).toBe(1);
    expect(callbacks).toHaveLength(count);
    for (const { faults } of callbacks) expect(faults).toEqual([expect.stringMatching(/^timestamp: \d+ s old/)]);
    const resigned = await parsed('replay', fixture(name), '--dry-run', '--resign');
    expect([resigned.code, resigned.callbacks.flatMap((one: { faults: string[] }) => one.faults)]).toEqual([0, []]);
  });

  test('fixture bad-signature has a wrong signature', async () => {
    await shop.server.runtime.settings.setMany(keys);
    const { code, stdout } = await replay(fixture('bad-signature'), '--dry-run');
    expect([code, stdout]).toEqual([1, expect.stringContaining('sign: the signature is wrong')]);
    expect(stdout).toContain('1 callback, nothing was sent');
    expect((await replay(fixture('bad-signature'))).stdout).toContain('refused: code 400, sign');
  });

  test('stored callbacks are signed again; a callback that arrived before its task is accepted now', async () => {
    const unknown = await file('unknown.json', inner('order:1772358600000000001:reserve', 'cb-early'));
    const refused = await replay(unknown, '--resign');
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('refused: code 500')]);
    const { request, id } = await order();
    await shop.database.sql`
      update inventory.external_callbacks set body = ${JSON.stringify(inner(request, 'cb-early'))}, received_at = now() - interval '1 hour'`;
    expect((await replay('--since', '30m')).stdout).toBe('no callbacks\n');
    expect(await parsed('replay', '--since', '2h', '--dry-run')).toMatchObject({
      code: 0,
      callbacks: [{ request_id: request, faults: [] }],
    });
    expect(await statusOf(id)).toBe('pending');
    const sent = await replay('--since', '2h', '--json');
    expect(JSON.parse(sent.stdout)).toMatchObject({
      sent: 1,
      refused: 0,
      callbacks: [{ callback_id: 'cb-early', code: 0 }],
    });
    expect(await statusOf(id)).toBe('reserved');
    expect((await replay('--callback-id', 'cb-early')).stdout).toContain('1 accepted');
    expect((await replay('--request-id', 'order:7:reserve')).stdout).toBe('no callbacks\n');
  });

  test('the command finds the server that runs on the data folder', async () => {
    await file('instance.json', { pid: 1, url: shop.url });
    const path = await file('one.json', inner((await order()).request, 'cb-2'));
    expect(await run('replay', path, '--resign', '--data', folder)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`by ${shop.url}`),
    });
  });

  test('an unreachable server, a wrong file and a missing setting are reported, and nothing is sent', async () => {
    const path = await file('one.json', inner('order:1:reserve', 'cb-3'));
    const endsWith = async (exitCode: number, message: string, ...args: string[]) => {
      const { code, stderr } = await run('replay', ...args);
      expect([code, stderr]).toEqual([exitCode, expect.stringContaining(message)]);
    };
    const fails = (message: string, ...args: string[]) => endsWith(1, message, ...args);
    await fails('does not answer', path, '--resign', '--url', 'http://127.0.0.1:1');
    await endsWith(2, 'use --resign', path, '--url', shop.url);
    await fails('is not valid JSON', await file('half.json', '{"body":'), '--resign');
    await fails('number 2: is not a callback', await file('other.json', [inner('a', 'b'), { hello: 1 }]), '--resign');
    await fails('ENOENT', join(folder, 'nothing.json'));
    await shop.server.runtime.settings.set('external_wms.app_secret', '');
    await endsWith(2, 'external_wms.app_secret: callbacks are signed', path, '--resign');
    for (const args of [[], [path, '--since', '2h'], ['--since', 'soon']])
      expect(await run('replay', ...args)).toMatchObject({ code: 2 });
  });
});

describe('doctor', () => {
  const findings = async () => {
    const args = ['--database-url', shop.database.url, '--data', folder, '--json'];
    const { stdout } = await runCommandInProcess(['doctor', ...args]);
    expect(stdout).not.toContain(warehouseAccount.appSecret);
    const all = JSON.parse(stdout).findings as { area: string; level: string; what: string; todo: string }[];
    return all.filter((one) => one.area === 'warehouse').map(({ level, what, todo }) => `${level}: ${what} -> ${todo}`);
  };

  test('checks the warehouse that holds the stock, and the tasks for it', async () => {
    expect(await findings()).toEqual([
      expect.stringContaining(`ok: external_wms (async) at ${simulator.url} answers in`),
      'ok: 0 tasks open, none overdue -> ',
    ]);
    await refusedOrder();
    await order();
    await shop.database.sql`
      update inventory.inventory_integration_tasks set next_retry_at = now() - interval '20 minutes' where status = 'pending'`;
    await shop.server.runtime.settings.set('external_wms.app_secret', 'another');
    expect(await findings()).toEqual([
      expect.stringMatching(/^error: .*code 4002, X-Sign.* -> .*app_secret/),
      expect.stringMatching(/^error: 1 of 1 open tasks are overdue, the oldest for 20 min.* -> .*wms deliver/),
      expect.stringMatching(/^warning: 1 tasks have failed.* -> tradepost wms tasks list --failed/),
    ]);
    await shop.server.runtime.settings.set('external_wms.endpoint', '');
    expect((await findings())[0]).toMatch(/^error: not set: external_wms.endpoint; the shop does not start/);
  });

  test('has nothing to report when the shop holds its stock, unless tasks are open', async () => {
    await shop.server.runtime.settings.set('inventory.provider', 'local');
    expect(await findings()).toEqual(['ok: nothing to report -> ']);
    await order();
    expect((await findings())[0]).toMatch(/^note: inventory.provider is local, and 1 tasks .* still open/);
  });
});
