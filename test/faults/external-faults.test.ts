import { randomUUID } from 'node:crypto';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { ledgerDifferences } from '@tradepost/testing/external-shop';
import { cleanUp } from '@tradepost/testing/processes/cleanup';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { externalPairs } from './pairs/external-pairs.ts';
import { shelfPairs } from './pairs/shelf-pairs.ts';
import { runPair } from './race.ts';
import { emptyOutcome } from './scenario.ts';
import { openPayment, openTestShop, order, payOrCancel, sendNotice, type TestShop } from './test-shop.ts';
import { sendCallback, signedCallback, wrongCallbacks } from './warehouse-callbacks.ts';
import { allDone, balanced, mix, openWarehouseShop, type WarehouseShop } from './warehouse-shop.ts';

/** Concurrent actions on one order with an external warehouse or on one shelf of an own warehouse, and invalid callbacks. */
afterAll(cleanUp);

describe('an external warehouse: each action is stopped before each statement while the other runs', () => {
  let shop: WarehouseShop;
  beforeAll(async () => {
    shop = await openWarehouseShop(inject('clusterUrl'), 'async', {
      settings: { 'external_wms.callback_enabled': true, 'external_wms.callback_deadline_sec': 600 },
      behaviour: { rememberRefusals: false },
    });
  });
  afterAll(() => shop?.close());

  // The pairs need the shop, which is opened after the tests are named.
  const names = externalPairs(null as never).map(({ name }) => name);
  test.each(names)(
    '%s',
    async (name) => {
      const { faults, held } = await runPair(shop, externalPairs(shop).find((pair) => pair.name === name)!);
      expect(faults).toEqual([]);
      expect(held.length, 'statements at which it was held').toBeGreaterThan(1);
    },
    60_000,
  );
  test('all audits pass afterwards', async () => {
    expect(await auditViolations(shop.sql)).toEqual([]);
  });
});

describe('own warehouses: each action is stopped before each statement while the other runs', () => {
  let shop: TestShop;
  beforeAll(async () => {
    shop = await openTestShop(inject('clusterUrl'), {}, { 'inventory.provider': 'builtin_wms' });
  });
  afterAll(() => shop?.close());
  test.each(shelfPairs)(
    '$name',
    async (pair) => {
      const { faults, held } = await runPair(shop, pair);
      expect(faults).toEqual([]);
      expect(held.length, 'statements at which it was held').toBeGreaterThan(1);
    },
    60_000,
  );
  test('all audits pass afterwards', async () => {
    expect(await auditViolations(shop.sql)).toEqual([]);
  });
});

describe('a warehouse that reserves but answers with failure codes until the attempts are used up', () => {
  let shop: WarehouseShop;
  beforeAll(async () => {
    shop = await openWarehouseShop(inject('clusterUrl'), 'async', {
      settings: { 'external_wms.retry.max_attempts': 2 },
      behaviour: { failRate: 1, failAfter: 1, failCodes: [1001], faultCalls: ['reserve'] },
    });
  });
  afterAll(() => shop?.close());

  const place = async () => {
    const [buyer] = await shop.buyers(1);
    const { sku_ids } = await shop.goods();
    const { data } = await order(shop.first, buyer!, sku_ids);
    const shown = async () =>
      (await shop.first.call('GET', `/api/v1/orders/${data.id}`, { token: buyer!.token })).data.inventory_status;
    return { buyer: buyer!, sku: sku_ids[0]!, id: data.id as number, shown };
  };
  const deliver = () => shop.first.job('inventory.deliver');
  const agree = async (sku: number, sold: number) => {
    expect(await ledgerDifferences(shop.sql, shop.warehouse.simulator())).toEqual([]);
    const [row] = await shop.sql`select sold from catalog.product_skus where id = ${sku}`;
    expect(row!.sold).toBe(sold);
    expect(await auditViolations(shop.sql)).toEqual([]);
  };

  test('a late payment: the stock is deducted in both ledgers', async () => {
    const { buyer, sku, id, shown } = await place();
    const money = await openPayment(shop.first, buyer, id);
    await deliver();
    expect(await shown()).toBe('failed');
    expect((await sendNotice(shop.first, money)).data.status).toBe('succeeded');
    await deliver();
    expect(await shown()).toBe('confirmed');
    await agree(sku, 1);
  });
  test('a cancellation: the stock is released in both ledgers', async () => {
    const { buyer, sku, id, shown } = await place();
    await deliver();
    expect(await shown()).toBe('failed');
    expect((await payOrCancel(shop.first, 'cancel', buyer, id)).code).toBe(0);
    await deliver();
    expect(await shown()).toBe('released');
    await agree(sku, 0);
  });
});

describe('callbacks', () => {
  let shop: WarehouseShop;
  beforeAll(async () => {
    shop = await openWarehouseShop(inject('clusterUrl'), 'async', {
      settings: { 'external_wms.callback_enabled': true },
      flags: { only: 'api,worker' },
    });
  });
  afterAll(() => shop?.close());
  const tasksOf = async (no: string) =>
    (
      await shop.sql`
        select action, status, last_callback_id as callback from inventory.inventory_integration_tasks
        where biz_no = ${no} order by id`
    ).map((row) => ({ ...row }));

  test('50 concurrent callbacks of one task on two instances: one of them ends the task', async () => {
    const [buyer] = await shop.buyers(1);
    const { sku_ids } = await shop.goods();
    const { data } = await order(shop.first, buyer!, sku_ids);
    const request_id = `order:${data.order_no}:reserve`;
    const ids = Array.from({ length: 10 }, () => randomUUID());
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => {
        const message = signedCallback({
          request_id,
          callback_id: ids[n % 10]!,
          status: n % 5 === 4 ? 'processing' : 'success',
        });
        return sendCallback(n % 2 ? shop.first : shop.second, message);
      }),
    );
    expect(answers.map(({ code }) => code)).toEqual(Array(50).fill(0));
    expect(await tasksOf(data.order_no)).toEqual([
      { action: 'reserve', status: 'success', callback: expect.any(String) },
    ]);
    const rows = await shop.sql<{ outcome: string; seen: number; status: string }[]>`
      select outcome, seen, status from inventory.external_callbacks where request_id = ${request_id}`;
    expect(rows.length).toBe(10);
    expect(rows.reduce((all, row) => all + row.seen, 0)).toBe(50);
    expect(rows.filter(({ outcome, status }) => outcome === 'applied' && status === 'success').length).toBe(1);
    await payOrCancel(shop.first, 'cancel', buyer!, data.id);
    // The task ended before its delivery, so the warehouse receives only the release.
    shop.warehouse.change({ callbacks: 'async' });
    await allDone(shop);
    expect(await ledgerDifferences(shop.sql, shop.warehouse.simulator())).toEqual([]);
  });

  test('invalid callbacks, used nonces and late failures change nothing while orders are placed', async () => {
    shop.warehouse.change({
      callbacks: 'async',
      callbackDelayMs: 5,
      callbackJitterMs: 30,
      lostCallbackRate: 0.1,
      earlyRate: 0.3,
      failRate: 0.2,
    });
    const load = {
      buyers: await shop.buyers(16),
      skuIds: (await shop.goods({ stocks: Array(10).fill(1_000_000) })).sku_ids,
    };
    const outcome = emptyOutcome();
    let ending = false;
    const seen = new Map<string, number[]>();
    const attack = async () => {
      for (let round = 0; !ending; round += 1) {
        const [task] = await shop.sql<{ request_id: string; status: string }[]>`
          select request_id, status from inventory.inventory_integration_tasks order by random() limit 1`;
        if (!task) continue;
        const at = round % 2 ? shop.first : shop.second;
        for (const { kind, body, codes } of wrongCallbacks(task.request_id)) {
          const { code } = await sendCallback(at, body);
          if (!codes.includes(code)) seen.set(kind, [...(seen.get(kind) ?? []), code]);
        }
        if (task.status !== 'success') continue;
        // A valid signature, but the task has ended.
        const late = signedCallback({ request_id: task.request_id, status: 'failed', message: 'too late' });
        const first = await sendCallback(at, late);
        const again = await sendCallback(at, late);
        if (first.code !== 0 || again.code !== 409) seen.set('late', [first.code, again.code]);
      }
    };
    const attacking = Promise.all([attack(), attack()]);
    await mix(shop, outcome, load, { orders: 150 });
    await allDone(shop);
    ending = true;
    await attacking;
    expect([...seen]).toEqual([]);
    await balanced(shop, outcome);
    expect(outcome.faults).toEqual([]);
    const [row] = await shop.sql<{ n: number }[]>`
      select count(*)::int as n from inventory.external_callbacks where message = 'too late' and outcome = 'ignored'`;
    expect(row!.n).toBeGreaterThan(0);
  });
});
