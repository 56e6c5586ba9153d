import { randomUUID } from 'node:crypto';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { ledgerDifferences } from '@tradepost/testing/external-shop';
import { cleanUp } from '@tradepost/testing/processes/cleanup';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { runPair } from './race.ts';
import { emptyOutcome } from './scenario.ts';
import { openPayment, openTestShop, order, payOrCancel, sendNotice, type TestShop } from './test-shop.ts';
import { sendCallback, signedCallback, wrongCallbacks } from './warehouse-callbacks.ts';
import { externalPairs, shelfPairs } from './warehouse-pairs.ts';
import { allDone, balanced, mix, openWarehouseStage, type WarehouseStage } from './warehouse-stage.ts';

/** Two things happen to one order of a partner, or to one shelf of ours; and a partner that calls back as nobody should. */
afterAll(cleanUp);

describe('an external warehouse: held before each of its statements while another one runs', () => {
  let stage: WarehouseStage;
  beforeAll(async () => {
    stage = await openWarehouseStage(inject('clusterUrl'), 'async', {
      settings: { 'external_wms.callback_enabled': true, 'external_wms.callback_deadline_sec': 600 },
      behaviour: { rememberRefusals: false },
    });
  });
  afterAll(() => stage?.close());

  // The pairs need the stage, which is not there yet when the tests are named.
  const names = externalPairs(null as never).map(({ name }) => name);
  test.each(names)(
    '%s',
    async (name) => {
      const { faults, held } = await runPair(stage, externalPairs(stage).find((pair) => pair.name === name)!);
      expect(faults).toEqual([]);
      expect(held.length, 'statements at which it was held').toBeGreaterThan(1);
    },
    60_000,
  );
  test('after all this the books are right', async () => {
    expect(await auditViolations(stage.sql)).toEqual([]);
  });
});

describe('shelves of our own: held before each of its statements while another one runs', () => {
  let stage: TestShop;
  beforeAll(async () => {
    stage = await openTestShop(inject('clusterUrl'), {}, { 'inventory.provider': 'builtin_wms' });
  });
  afterAll(() => stage?.close());
  test.each(shelfPairs)(
    '$name',
    async (pair) => {
      const { faults, held } = await runPair(stage, pair);
      expect(faults).toEqual([]);
      expect(held.length, 'statements at which it was held').toBeGreaterThan(1);
    },
    60_000,
  );
  test('after all this the books are right', async () => {
    expect(await auditViolations(stage.sql)).toEqual([]);
  });
});

describe('a partner that reserves and never says so, until the attempts are used up', () => {
  let stage: WarehouseStage;
  beforeAll(async () => {
    stage = await openWarehouseStage(inject('clusterUrl'), 'async', {
      settings: { 'external_wms.retry.max_attempts': 2 },
      behaviour: { failRate: 1, failAfter: 1, failCodes: [1001], faultCalls: ['reserve'] },
    });
  });
  afterAll(() => stage?.close());

  const place = async () => {
    const [buyer] = await stage.buyers(1);
    const { sku_ids } = await stage.goods();
    const { data } = await order(stage.first, buyer!, sku_ids);
    const shown = async () =>
      (await stage.first.call('GET', `/api/v1/orders/${data.id}`, { token: buyer!.token })).data.inventory_status;
    return { buyer: buyer!, sku: sku_ids[0]!, id: data.id as number, shown };
  };
  const deliver = () => stage.first.job('inventory.deliver');
  const agree = async (sku: number, sold: number) => {
    expect(await ledgerDifferences(stage.sql, stage.warehouse.simulator())).toEqual([]);
    const [row] = await stage.sql`select sold from catalog.product_skus where id = ${sku}`;
    expect(row!.sold).toBe(sold);
    expect(await auditViolations(stage.sql)).toEqual([]);
  };

  test('money that comes in nevertheless: the pieces are gone in both books', async () => {
    const { buyer, sku, id, shown } = await place();
    const money = await openPayment(stage.first, buyer, id);
    await deliver();
    expect(await shown()).toBe('failed');
    expect((await sendNotice(stage.first, money)).data.status).toBe('succeeded');
    await deliver();
    expect(await shown()).toBe('confirmed');
    await agree(sku, 1);
  });
  test('cancelled: they are released in both books', async () => {
    const { buyer, sku, id, shown } = await place();
    await deliver();
    expect(await shown()).toBe('failed');
    expect((await payOrCancel(stage.first, 'cancel', buyer, id)).code).toBe(0);
    await deliver();
    expect(await shown()).toBe('released');
    await agree(sku, 0);
  });
});

describe('callbacks', () => {
  let stage: WarehouseStage;
  beforeAll(async () => {
    stage = await openWarehouseStage(inject('clusterUrl'), 'async', {
      settings: { 'external_wms.callback_enabled': true },
      flags: { only: 'api,worker' },
    });
  });
  afterAll(() => stage?.close());
  const tasksOf = async (no: string) =>
    (
      await stage.sql`
        select action, status, last_callback_id as callback from inventory.inventory_integration_tasks
        where biz_no = ${no} order by id`
    ).map((row) => ({ ...row }));

  test('50 messages about one task at the same moment, on two instances: one of them ends it', async () => {
    const [buyer] = await stage.buyers(1);
    const { sku_ids } = await stage.goods();
    const { data } = await order(stage.first, buyer!, sku_ids);
    const request_id = `order:${data.order_no}:reserve`;
    const ids = Array.from({ length: 10 }, () => randomUUID());
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => {
        const message = signedCallback({
          request_id,
          callback_id: ids[n % 10]!,
          status: n % 5 === 4 ? 'processing' : 'success',
        });
        return sendCallback(n % 2 ? stage.first : stage.second, message);
      }),
    );
    expect(answers.map(({ code }) => code)).toEqual(Array(50).fill(0));
    expect(await tasksOf(data.order_no)).toEqual([
      { action: 'reserve', status: 'success', callback: expect.any(String) },
    ]);
    const rows = await stage.sql<{ outcome: string; seen: number; status: string }[]>`
      select outcome, seen, status from inventory.external_callbacks where request_id = ${request_id}`;
    expect(rows.length).toBe(10);
    expect(rows.reduce((all, row) => all + row.seen, 0)).toBe(50);
    expect(rows.filter(({ outcome, status }) => outcome === 'applied' && status === 'success').length).toBe(1);
    await payOrCancel(stage.first, 'cancel', buyer!, data.id);
    // Ended before it was ever told: the partner learns only of the release.
    stage.warehouse.change({ callbacks: 'async' });
    await allDone(stage);
    expect(await ledgerDifferences(stage.sql, stage.warehouse.simulator())).toEqual([]);
  });

  test('wrong ones in every way, repeats with a used nonce and late failures change nothing while orders come and go', async () => {
    stage.warehouse.change({
      callbacks: 'async',
      callbackDelayMs: 5,
      callbackJitterMs: 30,
      lostCallbackRate: 0.1,
      earlyRate: 0.3,
      failRate: 0.2,
    });
    const shop = {
      buyers: await stage.buyers(16),
      skuIds: (await stage.goods({ stocks: Array(10).fill(1_000_000) })).sku_ids,
    };
    const outcome = emptyOutcome();
    let ending = false;
    const seen = new Map<string, number[]>();
    const attack = async () => {
      for (let turn = 0; !ending; turn += 1) {
        const [task] = await stage.sql<{ request_id: string; status: string }[]>`
          select request_id, status from inventory.inventory_integration_tasks order by random() limit 1`;
        if (!task) continue;
        const at = turn % 2 ? stage.first : stage.second;
        for (const { kind, body, codes } of wrongCallbacks(task.request_id)) {
          const { code } = await sendCallback(at, body);
          if (!codes.includes(code)) seen.set(kind, [...(seen.get(kind) ?? []), code]);
        }
        if (task.status !== 'success') continue;
        // Signed well, and too late: the task has ended.
        const late = signedCallback({ request_id: task.request_id, status: 'failed', message: 'too late' });
        const first = await sendCallback(at, late);
        const again = await sendCallback(at, late);
        if (first.code !== 0 || again.code !== 409) seen.set('late', [first.code, again.code]);
      }
    };
    const attacking = Promise.all([attack(), attack()]);
    await mix(stage, outcome, shop, { orders: 150 });
    await allDone(stage);
    ending = true;
    await attacking;
    expect([...seen]).toEqual([]);
    await balanced(stage, outcome);
    expect(outcome.faults).toEqual([]);
    const [row] = await stage.sql<{ n: number }[]>`
      select count(*)::int as n from inventory.external_callbacks where message = 'too late' and outcome = 'ignored'`;
    expect(row!.n).toBeGreaterThan(0);
  }, 60_000);
});
