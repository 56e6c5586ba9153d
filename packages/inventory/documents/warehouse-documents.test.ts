import { createStaff } from '@tradepost/identity';
import type { Transaction } from '@tradepost/postgres';
import { auditViolations } from '@tradepost/testing/audit-violations';
import type { Answer } from '@tradepost/testing/client';
import { chinese } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completeDocuments, insertCompletedDocuments } from './complete-documents.ts';
import { documentNumber } from './document.ts';
import type { CompletedDocument } from './document-hooks.ts';
import { createDocument } from './save-documents.ts';

/** The effect of warehouse documents on stock when warehouses hold it (inventory.provider = builtin_wms). */
let shop: Shop;
let token: string;
beforeAll(async () => {
  shop = await openShop({}, { 'inventory.provider': 'builtin_wms' });
  await createStaff(shop.server.runtime.sql, { username: 'boss', password: 'boss-secret' });
  token = await shop.login('boss', 'boss-secret');
});
afterAll(() => shop?.close());

type Item = { sku_id: number; qty: number };
const wms = (method: string, path: string, body?: object, lang?: string) =>
  shop.call(method, `/admin/api/wms${path}`, { token, body, ...(lang ? { lang } : {}) });
let codes = 0;
async function warehouse(): Promise<number> {
  codes += 1;
  return (await wms('POST', '/warehouses', { code: `C${codes}`, name: `Warehouse ${codes}` })).data.id;
}
const draft = async (warehouse_id: number, doc_type: string, items: Item[]): Promise<number> =>
  (await wms('POST', '/docs', { warehouse_id, doc_type, items })).data.id;
const complete = (id: number, lang?: string) => wms('POST', `/docs/${id}/complete`, undefined, lang);
async function moved(warehouse_id: number, doc_type: string, items: Item[]): Promise<number> {
  const id = await draft(warehouse_id, doc_type, items);
  expect(await complete(id)).toMatchObject({ code: 0, data: null });
  return id;
}
const skus = async (count = 1) => (await insertProduct(shop.database, { stocks: Array(count).fill(0) })).sku_ids;
const stateOf = async (id: number) => (await wms('GET', `/docs/${id}`)).data;
/** The quantities on hand and reserved in a warehouse, and those of the SKU. */
async function levels(warehouse_id: number, sku_id: number) {
  const { sql } = shop.database;
  const [row] = await sql`
    select qty, reserved_qty from inventory.inventory_stock where warehouse_id = ${warehouse_id} and sku_id = ${sku_id}`;
  const [sku] = await sql`select stock, reserved_stock from catalog.product_skus where id = ${sku_id}`;
  return {
    qty: row?.qty ?? null,
    reserved: row?.reserved_qty ?? null,
    skuStock: sku!.stock,
    skuReserved: sku!.reserved_stock,
  };
}
/** The movements of a SKU as (change, before, after), in id order. */
const chain = async (warehouse_id: number, sku_id: number): Promise<number[][]> => {
  const rows = await shop.database.sql`
    select change_qty, before_qty, after_qty from inventory.stock_movements
    where warehouse_id = ${warehouse_id} and sku_id = ${sku_id} order by id`;
  return rows.map((row) => [row.change_qty, row.before_qty, row.after_qty]);
};
const buy = async (sku_id: number, qty: number) => {
  const ann = await shop.shopper();
  await shop.call('POST', '/api/v1/cart/add', { token: ann.token, body: { sku_id, qty } });
  const body = { address_id: ann.address_id, sku_ids: [sku_id] };
  const answer = await shop.call('POST', '/api/v1/orders', { token: ann.token, body });
  const act = (what: string) => shop.call('POST', `/api/v1/orders/${answer.data.id}/${what}`, { token: ann.token });
  return { answer, act };
};

describe('completing a document', () => {
  test('an inbound document increases the stock, an outbound one reduces it, with a movement per item', async () => {
    const here = await warehouse();
    const [a, b] = (await skus(2)) as [number, number];
    const inbound = await draft(here, 'inbound', [
      { sku_id: a, qty: 5 },
      { sku_id: b, qty: 1 },
      { sku_id: a, qty: 2 },
    ]);
    expect(await levels(here, a), 'a draft moves nothing').toMatchObject({ qty: null, skuStock: 0 });
    expect(await complete(inbound)).toMatchObject({ code: 0, data: null });
    expect(await levels(here, a)).toEqual({ qty: 7, reserved: 0, skuStock: 7, skuReserved: 0 });
    const document = await stateOf(inbound);
    expect(document.status).toBe('completed');
    expect(Math.abs(Date.parse(document.completed_at) - Date.now())).toBeLessThan(60_000);
    await moved(here, 'outbound', [
      { sku_id: a, qty: 3 },
      { sku_id: a, qty: 4 },
    ]);
    expect(await levels(here, a)).toMatchObject({ qty: 0, skuStock: 0 });
    expect(await chain(here, a)).toEqual([
      [5, 0, 5],
      [2, 5, 7],
      [-3, 7, 4],
      [-4, 4, 0],
    ]);
    expect(await levels(here, b)).toMatchObject({ qty: 1, skuStock: 1 });
  });

  test('the stock of a SKU is the sum over the enabled warehouses', async () => {
    const [here, there] = [await warehouse(), await warehouse()];
    const [sku_id] = (await skus()) as [number];
    await moved(here, 'inbound', [{ sku_id, qty: 5 }]);
    await moved(there, 'inbound', [{ sku_id, qty: 2 }]);
    expect(await levels(there, sku_id)).toMatchObject({ qty: 2, skuStock: 7 });
  });

  test('completed and canceled documents are refused with their state and do not change', async () => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    const done = await moved(here, 'inbound', [{ sku_id, qty: 5 }]);
    const dropped = await draft(here, 'inbound', [{ sku_id, qty: 5 }]);
    expect((await wms('POST', `/docs/${dropped}/cancel`)).data).toBeNull();
    for (const [id, state] of [
      [done, 'completed'],
      [dropped, 'canceled'],
    ] as const) {
      const before = await stateOf(id);
      expect(before.status).toBe(state);
      expect([before.completed_at !== null, before.canceled_at !== null]).toEqual([id === done, id === dropped]);
      for (const [method, path, body] of [
        ['PUT', '', { remark: 'late' }],
        ['PUT', '', { items: [{ sku_id, qty: 1 }] }],
        ['POST', '/complete', {}],
        ['POST', '/cancel', {}],
      ] as const) {
        expect(await wms(method, `/docs/${id}${path}`, body)).toMatchObject({
          status: 200,
          code: 409,
          message: expect.stringContaining(`is ${state}`),
        });
        expect((await wms(method, `/docs/${id}${path}`, body, 'zh-CN')).message).toMatch(chinese);
      }
      expect(await stateOf(id)).toEqual(before);
    }
    expect(await levels(here, sku_id)).toMatchObject({ qty: 5 });
  });

  test('a document of a disabled warehouse is refused with 403 and stays a draft', async () => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    const id = await draft(here, 'inbound', [{ sku_id, qty: 5 }]);
    await wms('PUT', `/warehouses/${here}/status`, { status: 0 });
    expect(await complete(id)).toMatchObject({
      status: 200,
      code: 403,
      message: `The warehouse Warehouse ${codes} is disabled`,
    });
    expect((await complete(id, 'zh-CN')).message).toMatch(chinese);
    expect((await stateOf(id)).status).toBe('draft');
    await wms('PUT', `/warehouses/${here}/status`, { status: 1 });
    expect((await complete(id)).code).toBe(0);
  });

  test('an outbound document with more than the stock is refused as a whole', async () => {
    const [here, there] = [await warehouse(), await warehouse()];
    const [a, b] = (await skus(2)) as [number, number];
    await moved(here, 'inbound', [
      { sku_id: a, qty: 5 },
      { sku_id: b, qty: 5 },
    ]);
    await moved(there, 'inbound', [{ sku_id: b, qty: 100 }]);
    for (const items of [
      [
        { sku_id: a, qty: 1 },
        { sku_id: b, qty: 6 },
      ],
      // Each item alone would fit.
      [
        { sku_id: b, qty: 3 },
        { sku_id: a, qty: 1 },
        { sku_id: b, qty: 3 },
      ],
    ]) {
      const id = await draft(here, 'outbound', items);
      expect(await complete(id)).toMatchObject({
        status: 200,
        code: 409,
        message: `Enamel mug (SKU ${b}): 6 to take, but only 5 free: 5 on hand, 0 reserved by orders`,
      });
      expect(await stateOf(id)).toMatchObject({ status: 'draft', completed_at: null });
    }
    expect(await levels(here, a)).toMatchObject({ qty: 5, skuStock: 5 });
    expect(await chain(here, a)).toHaveLength(1);
  });

  test('stock that orders have reserved cannot leave, and the refusal has the quantities', async () => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    await moved(here, 'inbound', [{ sku_id, qty: 10 }]);
    const { answer, act } = await buy(sku_id, 4);
    expect(answer.code).toBe(0);
    expect(await levels(here, sku_id)).toEqual({ qty: 10, reserved: 4, skuStock: 10, skuReserved: 4 });
    const id = await draft(here, 'outbound', [{ sku_id, qty: 7 }]);
    expect(await complete(id)).toMatchObject({
      code: 409,
      message: `Enamel mug (SKU ${sku_id}): 7 to take, but only 6 free: 10 on hand, 4 reserved by orders`,
    });
    const inChinese = (await complete(id, 'zh-CN')).message;
    expect(inChinese).toMatch(chinese);
    for (const number of ['7', '6', '10', '4', String(sku_id)]) expect(inChinese).toContain(number);
    await moved(here, 'outbound', [{ sku_id, qty: 6 }]);
    expect((await act('pay')).code).toBe(0);
    expect(await levels(here, sku_id)).toEqual({ qty: 0, reserved: 0, skuStock: 0, skuReserved: 0 });
    expect((await complete(id)).code).toBe(409);
  });

  test('a stock beyond the range of the column is refused', async () => {
    const [here, there] = [await warehouse(), await warehouse()];
    const [sku_id] = (await skus()) as [number];
    const most = 2_147_483_647;
    await moved(here, 'inbound', [{ sku_id, qty: most }]);
    for (const [at, items] of [
      [here, [{ sku_id, qty: 1 }]],
      // The quantity fits in the warehouse, but not in the sum.
      [there, [{ sku_id, qty: 1 }]],
    ] as const) {
      const id = await draft(at, 'inbound', [...items]);
      expect(await complete(id)).toMatchObject({
        status: 200,
        code: 409,
        message: expect.stringContaining(String(most)),
      });
      expect((await complete(id, 'zh-CN')).message).toMatch(chinese);
    }
    await wms('PUT', `/warehouses/${here}/status`, { status: 0 });
    await moved(there, 'inbound', [{ sku_id, qty: 1 }]);
    expect(await wms('PUT', `/warehouses/${here}/status`, { status: 1 })).toMatchObject({ status: 200, code: 409 });
    expect(await wms('PUT', `/warehouses/${here}`, { status: 1, name: 'x' })).toMatchObject({ code: 409 });
    expect(await levels(there, sku_id)).toMatchObject({ qty: 1, skuStock: 1 });
    const two = await draft(there, 'inbound', [
      { sku_id, qty: most },
      { sku_id, qty: most },
    ]);
    expect(await complete(two)).toMatchObject({ status: 200, code: 409 });
  });
});

describe('a warehouse is disabled and enabled', () => {
  test.each([
    ['by its status', (id: number, status: number) => wms('PUT', `/warehouses/${id}/status`, { status })],
    ['by the whole row', (id: number, status: number) => wms('PUT', `/warehouses/${id}`, { status, contact: 'x' })],
  ])('%s: its stock is not shown and not sold, and its orders keep what they hold', async (_what, put) => {
    const [here, there] = [await warehouse(), await warehouse()];
    const [sku_id] = (await skus()) as [number];
    await moved(here, 'inbound', [{ sku_id, qty: 10 }]);
    await moved(there, 'inbound', [{ sku_id, qty: 1 }]);
    const [paid, cancelled] = [await buy(sku_id, 3), await buy(sku_id, 2)];
    expect((await put(here, 0)).code).toBe(0);
    expect((await put(here, 0)).code, 'switched off twice').toBe(0);
    expect(await levels(here, sku_id)).toEqual({ qty: 10, reserved: 5, skuStock: 1, skuReserved: 0 });
    expect((await buy(sku_id, 2)).answer).toMatchObject({ code: 20001, message: 'Insufficient stock' });
    expect((await paid.act('pay')).code).toBe(0);
    expect((await cancelled.act('cancel')).code).toBe(0);
    expect(await levels(here, sku_id)).toEqual({ qty: 7, reserved: 0, skuStock: 1, skuReserved: 0 });
    expect((await put(here, 1)).code).toBe(0);
    expect((await put(here, 1)).code).toBe(0);
    expect(await levels(here, sku_id)).toEqual({ qty: 7, reserved: 0, skuStock: 8, skuReserved: 0 });
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });

  /** Runs `call` while the changes of `hold` are not committed. The call must wait and then use the committed rows. */
  async function during(hold: (tx: Transaction) => Promise<unknown>, call: () => Promise<Answer>): Promise<Answer> {
    let answered = false;
    const { answer } = await shop.database.sql.begin(async (tx) => {
      await hold(tx as unknown as Transaction);
      const answer = call().finally(() => {
        answered = true;
      });
      const waits = () => shop.database.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(async () => answered || (await waits()).length > 0).toBe(true);
      return { answer };
    });
    return answer;
  }

  test('while a document is being completed there: the document reads the new status', async () => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    const id = await draft(here, 'inbound', [{ sku_id, qty: 5 }]);
    const off = (tx: Transaction) => tx`update inventory.warehouses set status = 0 where id = ${here}`;
    expect(await during(off, () => complete(id))).toMatchObject({ code: 403 });
    expect(await levels(here, sku_id)).toMatchObject({ qty: null, skuStock: 0 });
  });

  test('while an order is being placed: its reserved stock is included in the change', async () => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    await moved(here, 'inbound', [{ sku_id, qty: 5 }]);
    const reserve = async (tx: Transaction) => {
      await tx`update catalog.product_skus set reserved_stock = reserved_stock + 2 where id = ${sku_id}`;
      await tx`update inventory.inventory_stock set reserved_qty = 2 where sku_id = ${sku_id}`;
    };
    const off = () => wms('PUT', `/warehouses/${here}/status`, { status: 0 });
    expect(await during(reserve, off)).toMatchObject({ code: 0 });
    expect(await levels(here, sku_id)).toEqual({ qty: 5, reserved: 2, skuStock: 0, skuReserved: 0 });
    await shop.database.sql`update inventory.inventory_stock set reserved_qty = 0 where sku_id = ${sku_id}`;
  });

  test('while documents and orders move its stock', async () => {
    const here = await warehouse();
    const [a, b] = (await skus(2)) as [number, number];
    await moved(here, 'inbound', [
      { sku_id: a, qty: 100 },
      { sku_id: b, qty: 100 },
    ]);
    const [c] = (await skus()) as [number];
    const drafts = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        draft(
          here,
          n % 2 ? 'inbound' : 'outbound',
          n % 3 ? [{ sku_id: n % 2 ? c : a, qty: 1 }] : [{ sku_id: b, qty: 2 }],
        ),
      ),
    );
    const codesSeen = await Promise.all([
      ...drafts.map(async (id) => (await complete(id)).code),
      ...Array.from({ length: 12 }, async (_, n) => {
        const { answer, act } = await buy(n % 2 ? a : b, 1);
        return answer.code === 0 ? (await act(n % 3 ? 'pay' : 'cancel')).code : 0;
      }),
      ...Array.from(
        { length: 10 },
        async (_, n) => (await wms('PUT', `/warehouses/${here}/status`, { status: n % 2 })).code,
      ),
    ]);
    expect(codesSeen.filter((code) => ![0, 403].includes(code))).toEqual([]);
    expect(await auditViolations(shop.database.sql)).toEqual([]);
    await wms('PUT', `/warehouses/${here}/status`, { status: 1 });
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });
});

describe('at the same time', () => {
  test('twenty requests that complete one document apply it once', async () => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    const id = await draft(here, 'inbound', [{ sku_id, qty: 5 }]);
    const answers = await Promise.all(Array.from({ length: 20 }, () => complete(id)));
    expect(answers.map((answer) => answer.code).sort()).toEqual([0, ...Array(19).fill(409)]);
    expect(await levels(here, sku_id)).toMatchObject({ qty: 5, skuStock: 5 });
    expect(await chain(here, sku_id)).toEqual([[5, 0, 5]]);
  });

  test('twenty requests on their own connections, and one call with the document twenty times, apply it once', async () => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    const completed: CompletedDocument[] = [];
    const hooks = {
      mirrors: true,
      completed(_tx: unknown, docs: readonly CompletedDocument[]) {
        completed.push(...docs);
        return [];
      },
    };
    const { sql } = shop.server.runtime;
    const deps = { sql, now: () => new Date(), hooks };
    const [one, other] = [
      await draft(here, 'inbound', [{ sku_id, qty: 5 }]),
      await draft(here, 'inbound', [{ sku_id, qty: 1 }]),
    ];
    const answers = (await Promise.all(Array.from({ length: 20 }, () => completeDocuments(deps, [one])))).flat();
    expect(answers.filter((answer) => answer === true)).toHaveLength(1);
    const again = await completeDocuments(deps, Array(20).fill(other));
    expect(again.filter((answer) => answer === true)).toHaveLength(1);
    expect(again.filter((answer) => answer instanceof Error && 'code' in answer && answer.code === 409)).toHaveLength(
      19,
    );
    expect(await chain(here, sku_id)).toEqual([
      [5, 0, 5],
      [1, 5, 6],
    ]);
    expect(completed.map((document) => document.id)).toEqual([one, other]);
    expect(completed[0]).toMatchObject({
      ...{ warehouse_id: here, doc_type: 'inbound', biz_type: 'manual', biz_no: '', items: [{ sku_id, qty: 5 }] },
      doc_no: (await stateOf(one)).doc_no,
    });
  });

  test('complete, cancel and change of one draft: complete or cancel wins, and the movements are those of the stored items', async () => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    let expected = 0;
    for (let round = 0; round < 8; round += 1) {
      const id = await draft(here, 'inbound', [{ sku_id, qty: 5 }]);
      const [put, completed, canceled] = await Promise.all([
        wms('PUT', `/docs/${id}`, {
          items: [
            { sku_id, qty: 7 },
            { sku_id, qty: 1 },
          ],
        }),
        complete(id),
        wms('POST', `/docs/${id}/cancel`),
      ]);
      expect([completed.code, canceled.code].sort()).toEqual([0, 409]);
      expect([0, 409]).toContain(put.code);
      const { status, total_qty } = await stateOf(id);
      expect(status).toBe(completed.code === 0 ? 'completed' : 'canceled');
      if (status === 'completed') expected += total_qty;
    }
    expect((await levels(here, sku_id)).qty ?? 0).toBe(expected);
  });

  test('documents with the same SKUs in any order leave unbroken chains and no negative stock', async () => {
    const [here, there] = [await warehouse(), await warehouse()];
    const ids = await skus(4);
    for (const at of [here, there])
      await moved(
        at,
        'inbound',
        ids.map((sku_id) => ({ sku_id, qty: 20 })),
      );
    const drafts = await Promise.all(
      Array.from({ length: 40 }, (_, n) => {
        const turned = [...ids.slice(n % 4), ...ids.slice(0, n % 4)];
        const items = (n % 2 ? turned : turned.reverse()).map((sku_id) => ({ sku_id, qty: 1 + (n % 3) }));
        return draft(n % 5 < 3 ? here : there, n % 4 === 0 ? 'inbound' : 'outbound', items);
      }),
    );
    const { sql } = shop.server.runtime;
    const deps = { sql, now: () => new Date(), hooks: { mirrors: true, completed: () => [] } };
    const outcomes = await Promise.all([
      ...drafts.slice(0, 20).map(async (id) => (await complete(id)).code),
      ...drafts.slice(20).map(async (id) => {
        const [outcome] = await completeDocuments(deps, [id]);
        return outcome === true ? 0 : (outcome as { code?: number }).code;
      }),
      ...ids.map(async (sku_id) => (await buy(sku_id, 1)).answer.code),
    ]);
    expect(outcomes.filter((code) => ![0, 409, 20001].includes(code as number))).toEqual([]);
    expect(outcomes.filter((code) => code === 409).length).toBeGreaterThan(0);
    for (const at of [here, there])
      for (const sku_id of ids) {
        const links = await chain(at, sku_id);
        let qty = 0;
        for (const [change, before, after] of links) {
          expect([before, after]).toEqual([qty, qty + change!]);
          qty = after!;
        }
        expect((await levels(at, sku_id)).qty).toBe(qty);
      }
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });
});

describe('a request with a key', () => {
  const keyed = (path: string, key: string, body: object = {}) =>
    shop.call('POST', `/admin/api/wms${path}`, { token, body, headers: { 'idempotency-key': key } });

  test('that is repeated takes effect once', async () => {
    const made = [
      await keyed('/warehouses', 'w', { code: 'KEYED', name: 'x' }),
      await keyed('/warehouses', 'w', { code: 'KEYED', name: 'x' }),
    ];
    expect(made[1]).toMatchObject({ code: 0, data: made[0]!.data });
    const [sku_id] = (await skus()) as [number];
    const body = { warehouse_id: made[0]!.data.id, doc_type: 'inbound', items: [{ sku_id, qty: 1 }] };
    const [first, second] = [await keyed('/docs', 'd', body), await keyed('/docs', 'd', body)];
    expect(second.data).toEqual(first.data);
    expect((await wms('GET', `/docs?warehouse_id=${made[0]!.data.id}`)).data.total).toBe(1);
    for (const _ of ['once', 'again']) expect((await keyed(`/docs/${first.data.id}/complete`, 'c')).code).toBe(0);
    expect(await levels(made[0]!.data.id, sku_id)).toMatchObject({ qty: 1 });
  });
});

describe('numbers', () => {
  test('a taken number is retried three times, then refused', async () => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    const fields = {
      warehouse_id: here,
      doc_type: 'inbound' as const,
      remark: '',
      items: [{ sku_id, qty: 1, unit_cost: 0, remark: '' }],
    };
    const by = { staff_id: 0, claim: null };
    const taken = documentNumber('inbound', new Date());
    let asked = 0;
    const takenFor = (collisions: number) => () => {
      asked += 1;
      return asked > collisions ? documentNumber('inbound', new Date()) : taken;
    };
    await createDocument(shop.server.runtime, fields, by, () => taken);
    expect(await createDocument(shop.server.runtime, fields, by, takenFor(3))).toBeGreaterThan(0);
    asked = 0;
    await expect(createDocument(shop.server.runtime, fields, by, takenFor(4))).rejects.toMatchObject({ code: 409 });
    expect(asked).toBe(4);
    expect((await wms('GET', `/docs?warehouse_id=${here}`)).data.total).toBe(2);
  });
});

describe('documents of the shop itself', () => {
  const write = (requests: Parameters<typeof insertCompletedDocuments>[1], mirrors = true) =>
    shop.server.runtime.sql.begin(async (tx) => {
      const { outcomes, statements } = await insertCompletedDocuments(tx, requests, { mirrors, now: new Date() });
      for (const statement of statements) await statement;
      return outcomes;
    });
  const of = (warehouse_id: number, doc_type: 'inbound' | 'outbound', biz_no: string, items: Item[]) =>
    ({ warehouse_id, doc_type, biz_type: 'deduct', biz_no, remark: 'by itself', items }) as const;

  test('are completed at once with chained movements; a refused one writes nothing', async () => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    const outcomes = await write([
      of(here, 'inbound', 'A1', [{ sku_id, qty: 5 }]),
      of(here, 'outbound', 'A2', [{ sku_id, qty: 6 }]),
      of(here, 'outbound', 'A2', [{ sku_id, qty: 2 }]),
      of(2 ** 40, 'inbound', 'A3', [{ sku_id, qty: 2 }]),
    ]);
    expect(
      outcomes.map((outcome) =>
        outcome instanceof Error ? (outcome as { refusalName?: string }).refusalName : 'done',
      ),
    ).toEqual(['done', 'insufficient_free_stock', 'document_written', 'warehouse_not_found']);
    expect(await chain(here, sku_id)).toEqual([[5, 0, 5]]);
    expect(await levels(here, sku_id)).toMatchObject({ qty: 5, skuStock: 5 });
    const { data } = await wms('GET', `/docs?warehouse_id=${here}`);
    expect(data.list).toEqual([
      expect.objectContaining({
        status: 'completed',
        biz_type: 'deduct',
        biz_no: 'A1',
        total_qty: 5,
        created_by: 0,
        remark: 'by itself',
      }),
    ]);
    expect((await wms('GET', `/movements?warehouse_id=${here}`)).data.list[0]).toMatchObject({
      doc_id: data.list[0].id,
      doc_no: data.list[0].doc_no,
    });
  });

  test('are written once per number, also with twenty at once', async () => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    const outcomes = (
      await Promise.all(Array.from({ length: 20 }, () => write([of(here, 'inbound', 'B1', [{ sku_id, qty: 5 }])])))
    ).flat();
    expect(outcomes.filter((outcome) => !(outcome instanceof Error))).toHaveLength(1);
    expect(await levels(here, sku_id)).toMatchObject({ qty: 5, skuStock: 5 });
  });

  test('are possible in a disabled warehouse, whose stock the SKU does not show', async () => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    await wms('PUT', `/warehouses/${here}/status`, { status: 0 });
    await write([of(here, 'inbound', 'C1', [{ sku_id, qty: 5 }])]);
    expect(await levels(here, sku_id)).toMatchObject({ qty: 5, skuStock: 0 });
  });
});

test('without builtin_wms documents change only the stock of warehouses', async () => {
  const other = await openShop();
  try {
    await createStaff(other.server.runtime.sql, { username: 'boss', password: 'boss-secret' });
    const boss = await other.login('boss', 'boss-secret');
    const send = (method: string, path: string, body?: object) =>
      other.call(method, `/admin/api/wms${path}`, { token: boss, body });
    const { id: here } = (await send('POST', '/warehouses', { code: 'A', name: 'A' })).data;
    const own = 2_147_483_647;
    const [sku_id] = (await insertProduct(other.database, { stocks: [own] })).sku_ids;
    const doc = { warehouse_id: here, doc_type: 'inbound', items: [{ sku_id, qty: 5 }] };
    const { id } = (await send('POST', '/docs', doc)).data;
    expect((await send('POST', `/docs/${id}/complete`)).code).toBe(0);
    expect((await send('PUT', `/warehouses/${here}/status`, { status: 0 })).code).toBe(0);
    expect((await send('GET', `/stocks?sku_id=${sku_id}`)).data.list[0]).toMatchObject({ qty: 5, warehouse_status: 0 });
    const [sku] = await other.database.sql`select stock from catalog.product_skus where id = ${sku_id!}`;
    expect(sku!.stock).toBe(own);
    expect(await auditViolations(other.database.sql)).toEqual([]);
  } finally {
    await other.close();
  }
});

test('afterwards all audits pass', async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
