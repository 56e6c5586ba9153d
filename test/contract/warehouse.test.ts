import { createStaff } from '@tradepost/identity';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese, contract, expectFields } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** The contract of the warehouse administration. packages/inventory/documents/warehouse-documents.test.ts tests the effect on stock. */
let shop: Shop;
let token: string;
let staffId: number;
beforeAll(async () => {
  shop = await openShop();
  staffId = await createStaff(shop.server.runtime.sql, { username: 'boss', password: 'boss-secret' });
  token = await shop.login('boss', 'boss-secret');
});
afterAll(() => shop?.close());

const wms = (method: string, path: string, body?: object, lang?: string) =>
  shop.call(method, `/admin/api/wms${path}`, { token, body, ...(lang ? { lang } : {}) });
const list = async (path: string) => (await wms('GET', path)).data.list;
const idsIn = async (path: string): Promise<number[]> => (await list(path)).map((row: { id: number }) => row.id);

let codes = 0;
async function warehouse(fields: object = {}): Promise<number> {
  codes += 1;
  return (await wms('POST', '/warehouses', { code: `C${codes}`, name: `Warehouse ${codes}`, ...fields })).data.id;
}
type Item = { sku_id: number; qty: number; remark?: string; unit_cost?: number };
const draft = async (warehouse_id: number, doc_type: string, items: Item[], more: object = {}): Promise<number> =>
  (await wms('POST', '/docs', { warehouse_id, doc_type, items, ...more })).data.id;
async function moved(warehouse_id: number, doc_type: string, items: Item[]): Promise<number> {
  const id = await draft(warehouse_id, doc_type, items);
  expect(await wms('POST', `/docs/${id}/complete`)).toMatchObject({ code: 0 });
  return id;
}
const skus = async (count = 1, title?: string) =>
  (await insertProduct(shop.database, { stocks: Array(count).fill(0), ...(title ? { title } : {}) })).sku_ids;

const fields = {
  warehouse: 'id i, code s, name s, address s, contact s, phone s, status 0/1, created_at t, updated_at t',
  stock:
    'id i, warehouse_id i, warehouse_name s, sku_id i, sku_name s, qty i, reserved_qty i, safe_qty i, is_warning b, ' +
    'warning_gap i, updated_at t',
  document:
    'id i, doc_no s, warehouse_id i, warehouse_name s, doc_type s, status s, remark s, total_qty i, created_at t, ' +
    'updated_at t, completed_at t|null, canceled_at t|null',
  item: 'id i, doc_id i, sku_id i, sku_name s, qty i, unit_cost n, remark s',
  movement:
    'id i, doc_id i, doc_no s, warehouse_id i, warehouse_name s, sku_id i, sku_name s, biz_type s, change_qty i, ' +
    'before_qty i, after_qty i, occurred_at t',
};

describe('warehouses', () => {
  test('a created warehouse is listed with every field', async () => {
    const given = { code: 'HZ', name: 'Hangzhou', address: '1 Road', contact: 'Ann', phone: '13800000000' };
    const { data } = await wms('POST', '/warehouses', { ...given, status: 1 });
    expectFields(data, fields.warehouse);
    expect(data).toMatchObject({ ...given, status: 1 });
    const page = (await wms('GET', '/warehouses?keyword=Hangzhou')).data;
    expectFields(page, contract.paged);
    expect(page.list).toEqual([data]);
  });

  test('only name and code are required; any status but 0 and 1 means 1', async () => {
    for (const [status, stored] of [
      [undefined, 1],
      [0, 0],
      [1, 1],
      [7, 1],
      [-1, 1],
      ['', 1],
    ]) {
      const id = await warehouse({ status });
      expect(await idsIn(`/warehouses?keyword=Warehouse%20${codes}&status=${stored}`), String(status)).toContain(id);
    }
    for (const [body, named] of [
      [{ name: 'x' }, 'code'],
      [{ code: 'x' }, 'name'],
      [{ code: ' ', name: 'x' }, 'code'],
      [{ code: 'x', name: '' }, 'name'],
    ] as const)
      expect(await wms('POST', '/warehouses', body)).toMatchObject({
        code: 400,
        message: expect.stringContaining(named),
      });
  });

  test('a code is unique: 409, also for a change to a taken code, and for nineteen of twenty at once', async () => {
    const body = { code: 'ONCE', name: 'x' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => wms('POST', '/warehouses', body)));
    expect(answers.map((answer) => answer.code).sort()).toEqual([0, ...Array(19).fill(409)]);
    const refused = await wms('POST', '/warehouses', body);
    expect(refused).toMatchObject({ status: 200, code: 409, message: expect.stringContaining('ONCE') });
    expect((await wms('POST', '/warehouses', body, 'zh-CN')).message).toMatch(chinese);
    const other = await warehouse();
    expect(await wms('PUT', `/warehouses/${other}`, { code: 'ONCE' })).toMatchObject({ code: 409 });
    expect((await wms('PUT', `/warehouses/${other}`, { code: `C${codes}` })).code).toBe(0);
  });

  test('PUT of the whole row, as the console sends it, changes the fields and the status, and nothing else', async () => {
    const id = await warehouse({ contact: 'Ann' });
    const [row] = await list(`/warehouses?keyword=C${codes}`);
    const sent = { ...row, name: 'Renamed', status: 0, id: 99, created_at: '2000-01-01', sku_name: 'x', stocks: [] };
    expect((await wms('PUT', `/warehouses/${id}`, sent)).data).toBeNull();
    const [after] = await list(`/warehouses?keyword=C${codes}`);
    expect(after).toEqual({ ...row, name: 'Renamed', status: 0, updated_at: after.updated_at });
    await wms('PUT', `/warehouses/${id}`, { contact: '' });
    expect((await list(`/warehouses?keyword=C${codes}`))[0]).toMatchObject({ contact: '', name: 'Renamed', status: 0 });
  });

  test('the status has its own path', async () => {
    const id = await warehouse();
    for (const status of [0, 0, 1]) {
      expect((await wms('PUT', `/warehouses/${id}/status`, { status })).data).toBeNull();
      expect(await idsIn(`/warehouses?keyword=C${codes}&status=${status}`)).toEqual([id]);
    }
    for (const status of [2, -1, '', null, 'x', undefined])
      expect(await wms('PUT', `/warehouses/${id}/status`, { status })).toMatchObject({
        code: 400,
        message: expect.stringContaining('status'),
      });
  });

  test('an unknown id is 404 in both languages', async () => {
    for (const path of [`/warehouses/${2 ** 40}`, `/warehouses/${2 ** 40}/status`]) {
      expect(await wms('PUT', path, { status: 1 })).toMatchObject({
        status: 200,
        code: 404,
        message: 'Warehouse not found',
      });
      expect((await wms('PUT', path, { status: 1 }, 'zh-CN')).message).toMatch(chinese);
    }
  });

  test('the keyword matches name, code, contact and phone, and no other field', async () => {
    const id = await warehouse({
      code: 'kw%code',
      name: 'kw_name',
      contact: 'kwcontact',
      phone: 'kwphone',
      address: 'kwroad',
    });
    for (const keyword of ['kw%25co', 'KW_NA', 'wcontac', 'wphon'])
      expect(await idsIn(`/warehouses?keyword=${keyword}`), keyword).toEqual([id]);
    expect(await idsIn('/warehouses?keyword=kwroad')).toEqual([]);
  });

  test('a list without paging has all warehouses', async () => {
    await Promise.all(Array.from({ length: 30 }, () => warehouse()));
    const { data } = await wms('GET', '/warehouses?page=&size=&keyword=&status=');
    expect(data.total).toBeGreaterThan(30);
    expect(data.list).toHaveLength(data.total);
    expect((await wms('GET', '/warehouses?page=1')).data).toMatchObject({ size: 20, page: 1 });
    expect(await list('/warehouses?page=2')).toHaveLength(Math.min(20, data.total - 20));
  });
});

describe('paging of all four lists', () => {
  test.each(['warehouses', 'stocks', 'docs', 'movements'])('%s', async (path) => {
    for (const size of ['0', '-1', '101', '1000', 'abc', '1.5', '1e1'])
      expect(await wms('GET', `/${path}?size=${size}`), size).toMatchObject({
        status: 200,
        code: 400,
        message: expect.stringContaining('size'),
      });
    expect((await wms('GET', `/${path}?size=0`, undefined, 'zh-CN')).message).toMatch(chinese);
    expect(await wms('GET', `/${path}?page=x`)).toMatchObject({ code: 400, message: expect.stringContaining('page') });
    for (const [query, page, size] of [
      ['page=1&size=100', 1, 100],
      ['page=2&size=1', 2, 1],
      ['page=0&size=5', 1, 5],
      ['page=-3', 1, 20],
      ['page=3&size=', 3, 20],
    ] as const) {
      const { data } = await wms('GET', `/${path}?${query}`);
      expectFields(data, contract.paged);
      expect(data, query).toMatchObject({ page, size });
    }
    if (path !== 'warehouses') expect((await wms('GET', `/${path}`)).data).toMatchObject({ page: 1, size: 20 });
  });
});

describe('documents', () => {
  test('the answer has the document at the top level and in `doc`, and its items', async () => {
    const here = await warehouse();
    const [a, b] = (await skus(2)) as [number, number];
    const items = [
      { id: 5, sku_name: 'theirs', sku_id: a, qty: 3, unit_cost: 1.25, remark: 'first' },
      { sku_id: b, qty: 2 },
      { sku_id: a, qty: 1 },
    ];
    const body = {
      warehouse_id: here,
      doc_type: 'inbound',
      remark: 'from the factory',
      items,
      status: 'completed',
      id: 1,
    };
    const { data } = await wms('POST', '/docs', body);
    const { doc, items: rows, ...flat } = data;
    expect(flat).toEqual(doc);
    expectFields(doc, fields.document);
    for (const row of rows) expectFields(row, fields.item);
    expect(doc).toMatchObject({
      ...{ warehouse_id: here, warehouse_name: `Warehouse ${codes}`, doc_type: 'inbound', status: 'draft' },
      ...{ remark: 'from the factory', total_qty: 6, item_count: 3, created_by: staffId },
      ...{ completed_at: null, canceled_at: null, biz_type: 'manual' },
    });
    expect(rows.map((row: Item) => [row.sku_id, row.qty, row.unit_cost, row.remark])).toEqual([
      [a, 3, 1.25, 'first'],
      [b, 2, 0, ''],
      [a, 1, 0, ''],
    ]);
    expect(rows.every((row: { doc_id: number }) => row.doc_id === data.id)).toBe(true);
    expect((await wms('GET', `/docs/${data.id}`)).data).toEqual(data);
    const [row] = await list(`/docs?doc_no=${data.doc_no}`);
    expectFields(row, fields.document);
    expect(row).toEqual(doc);
  });

  test('numbers contain type and nanoseconds, and are unique', async () => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    const numbers = new Set<string>();
    for (const [doc_type, form] of [
      ['inbound', /^WI\d{27}$/],
      ['outbound', /^WO\d{27}$/],
    ] as const) {
      const ids = await Promise.all(Array.from({ length: 15 }, () => draft(here, doc_type, [{ sku_id, qty: 1 }])));
      for (const id of ids) {
        const { doc_no } = (await wms('GET', `/docs/${id}`)).data;
        expect(doc_no).toMatch(form);
        expect(Math.abs(Number(doc_no.slice(2, 15)) - Date.now())).toBeLessThan(60_000);
        numbers.add(doc_no);
      }
    }
    expect(numbers.size).toBe(30);
  });

  test.each([
    ['no warehouse', { warehouse_id: undefined }, 400, 'warehouse_id'],
    ['a missing warehouse', { warehouse_id: 2 ** 40 }, 404, 'Warehouse not found'],
    ['another type', { doc_type: 'transfer' }, 400, 'doc_type'],
    ['no type', { doc_type: '' }, 400, 'doc_type'],
    ['no items', { items: [] }, 400, 'items'],
    ['items left out', { items: undefined }, 400, 'items'],
    ['no pieces', { items: [{ sku_id: 1, qty: 0 }] }, 400, 'items[0].qty'],
    ['pieces below zero', { items: [{ sku_id: 1, qty: -1 }] }, 400, 'items[0].qty'],
    ['half a piece', { items: [{ sku_id: 1, qty: 1.5 }] }, 400, 'items[0].qty'],
    ['more pieces than a stock holds', { items: [{ sku_id: 1, qty: 2 ** 31 }] }, 400, 'items[0].qty'],
    ['no SKU', { items: [{ sku_id: 0, qty: 1 }] }, 400, 'items[0].sku_id'],
    ['a SKU that is not there', { items: [{ sku_id: 2 ** 40, qty: 1 }] }, 400, String(2 ** 40)],
    ['a cost below zero', { items: [{ sku_id: 1, qty: 1, unit_cost: -1 }] }, 400, 'items[0].unit_cost'],
  ])('%s is refused, at first and in a draft', async (_what, wrong, code, named) => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    const right = { warehouse_id: here, doc_type: 'inbound', items: [{ sku_id, qty: 1 }] };
    const { total } = (await wms('GET', '/docs')).data;
    expect(await wms('POST', '/docs', { ...right, ...wrong })).toMatchObject({
      status: 200,
      code,
      message: expect.stringContaining(named),
    });
    expect((await wms('POST', '/docs', { ...right, ...wrong }, 'zh-CN')).message).toMatch(chinese);
    expect((await wms('GET', '/docs')).data.total).toBe(total);
    if (Object.values(wrong).some((value) => value === undefined || value === '')) return;
    const id = await draft(here, 'inbound', right.items);
    const before = (await wms('GET', `/docs/${id}`)).data;
    expect(await wms('PUT', `/docs/${id}`, wrong)).toMatchObject({ code });
    expect((await wms('GET', `/docs/${id}`)).data).toEqual(before);
  });

  test('a draft accepts single fields and whole rows; the prefix of its number follows its type', async () => {
    const [here, there] = [await warehouse(), await warehouse()];
    const [a, b] = (await skus(2)) as [number, number];
    const id = await draft(here, 'inbound', [{ sku_id: a, qty: 1, unit_cost: 2.5 }], { remark: 'old' });
    const before = (await wms('GET', `/docs/${id}`)).data;
    const whole = { ...before, warehouse_id: there, doc_type: 'outbound', doc_no: 'mine', status: 'completed' };
    whole.items = [...before.items, { sku_id: b, qty: 7 }];
    expect((await wms('PUT', `/docs/${id}`, whole)).data).toBeNull();
    const after = (await wms('GET', `/docs/${id}`)).data;
    expect(after).toMatchObject({
      ...{ id, warehouse_id: there, doc_type: 'outbound', status: 'draft', remark: 'old', total_qty: 8 },
      ...{ doc_no: before.doc_no.replace('WI', 'WO'), created_at: before.created_at },
    });
    expect(after.items.map((row: Item) => [row.sku_id, row.qty, row.unit_cost])).toEqual([
      [a, 1, 2.5],
      [b, 7, 0],
    ]);
    await wms('PUT', `/docs/${id}`, { remark: '' });
    expect((await wms('GET', `/docs/${id}`)).data).toMatchObject({ remark: '', total_qty: 8, warehouse_id: there });
  });

  test('an unknown id is 404 in both languages', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['POST', '/complete'],
      ['POST', '/cancel'],
    ] as const) {
      const body = method === 'GET' ? undefined : {};
      const at = `/docs/${2 ** 40}${path}`;
      expect(await wms(method, at, body)).toMatchObject({ status: 200, code: 404, message: 'Document not found' });
      expect((await wms(method, at, body, 'zh-CN')).message).toMatch(chinese);
    }
  });

  test('filters work alone, together and empty', async () => {
    const [here, there] = [await warehouse(), await warehouse()];
    const [sku_id] = (await skus()) as [number];
    const items = [{ sku_id, qty: 1 }];
    const done = await moved(here, 'inbound', items);
    const dropped = await draft(here, 'outbound', items);
    await wms('POST', `/docs/${dropped}/cancel`);
    const open = await draft(here, 'inbound', items);
    await draft(there, 'inbound', items);
    const at = `/docs?warehouse_id=${here}`;
    expect(await idsIn(at)).toEqual([open, dropped, done]);
    expect(await idsIn(`${at}&status=draft`)).toEqual([open]);
    expect(await idsIn(`${at}&status=completed`)).toEqual([done]);
    expect(await idsIn(`${at}&status=canceled`)).toEqual([dropped]);
    expect(await idsIn(`${at}&doc_type=inbound`)).toEqual([open, done]);
    expect(await idsIn(`${at}&doc_type=&status=&doc_no=&start_at=&end_at=`)).toHaveLength(3);
    const { doc_no } = (await wms('GET', `/docs/${done}`)).data;
    expect(await idsIn(`/docs?doc_no=${doc_no}`)).toEqual([done]);
    expect(await idsIn(`/docs?doc_no=${doc_no.slice(0, -1)}`), 'the whole number').toEqual([]);
    for (const wrong of ['doc_type=x', 'status=x', 'warehouse_id=x'])
      expect(await wms('GET', `/docs?${wrong}`)).toMatchObject({
        code: 400,
        message: expect.stringContaining(wrong.split('=')[0]!),
      });
  });
});

describe('stock', () => {
  test('rows have every field; warning and gap follow the safety stock under both paths', async () => {
    const here = await warehouse();
    const [sku_id] = (await skus(1, 'Kettle')) as [number];
    await moved(here, 'inbound', [{ sku_id, qty: 5 }]);
    const row = async () => (await list(`/stocks?warehouse_id=${here}`))[0];
    const first = await row();
    expectFields(first, fields.stock);
    expect(first).toMatchObject({
      ...{ warehouse_id: here, warehouse_name: `Warehouse ${codes}`, sku_id, sku_name: 'Kettle' },
      ...{ qty: 5, reserved_qty: 0, safe_qty: 0, is_warning: false, warning_gap: 0 },
    });
    for (const [path, safe_qty, is_warning, warning_gap] of [
      ['safety', 5, false, 0],
      ['safe-qty', 6, true, 1],
      ['safety', 100, true, 95],
      ['safe-qty', 0, false, 0],
    ] as const) {
      expect((await wms('PUT', `/stocks/${first.id}/${path}`, { safe_qty, qty: 77 })).data).toBeNull();
      expect(await row()).toMatchObject({ qty: 5, safe_qty, is_warning, warning_gap });
    }
  });

  test.each(['safety', 'safe-qty'])('%s refuses a wrong quantity and an unknown row', async (path) => {
    const here = await warehouse();
    const [sku_id] = (await skus()) as [number];
    await moved(here, 'inbound', [{ sku_id, qty: 5 }]);
    const [id] = (await idsIn(`/stocks?warehouse_id=${here}`)) as [number];
    for (const safe_qty of [-1, 1.5, 2 ** 31, '', null, 'x', undefined])
      expect(await wms('PUT', `/stocks/${id}/${path}`, { safe_qty }), String(safe_qty)).toMatchObject({
        status: 200,
        code: 400,
        message: expect.stringContaining('safe_qty'),
      });
    expect((await wms('PUT', `/stocks/${id}/${path}`, {}, 'zh-CN')).message).toMatch(chinese);
    expect(await wms('PUT', `/stocks/${2 ** 40}/${path}`, { safe_qty: 1 })).toMatchObject({ code: 404 });
    expect((await wms('PUT', `/stocks/${2 ** 40}/${path}`, { safe_qty: 1 }, 'zh-CN')).message).toMatch(chinese);
  });

  test('filters: words of the name, code, id; warehouse; SKU; warnings', async () => {
    const { sql } = shop.database;
    const [here, there] = [await warehouse(), await warehouse()];
    const { id: product, sku_ids } = await insertProduct(shop.database, { title: 'Filter teapot', stocks: [0, 0] });
    const [a, b] = sku_ids as [number, number];
    await sql`
      update catalog.products
      set translations = '{"zh-CN": {"title": "茶壶", "specs": {"Cream": "奶油色"}}}' where id = ${product}`;
    await sql`
      update catalog.product_skus set attrs = '[{"name": "Colour", "value": "Cream"}]', sku_code = 'TP-C' where id = ${a}`;
    await sql`update catalog.product_skus set attrs = '[{"name": "Colour", "value": "Navy"}]' where id = ${b}`;
    await moved(here, 'inbound', [
      { sku_id: a, qty: 1 },
      { sku_id: b, qty: 1 },
    ]);
    await moved(there, 'inbound', [{ sku_id: a, qty: 1 }]);
    const found = async (query: string) =>
      (await list(`/stocks?${query}`)).map((row: { warehouse_id: number; sku_id: number }) => [
        row.warehouse_id,
        row.sku_id,
      ]);
    const all = [
      [there, a],
      [here, b],
      [here, a],
    ];
    const cream = [all[0], all[2]];
    expect(await found('keyword=filter%20teapot')).toEqual(all);
    expect(await found(`keyword=${encodeURIComponent('茶壶')}`)).toEqual(all);
    for (const keyword of ['teapot cream', 'Cream  filter', 'tp-c', '茶壶 奶油', String(a)])
      expect(await found(`keyword=${encodeURIComponent(keyword)}&sku_id=`), keyword).toEqual(cream);
    for (const keyword of ['Colour', 'teapot%', 'teapot red', '{']) {
      expect(await found(`keyword=${encodeURIComponent(keyword)}&warehouse_id=${here}`), keyword).toEqual([]);
    }
    expect(await found(`warehouse_id=${here}`)).toEqual(all.slice(1));
    expect(await found(`sku_id=${a}`)).toEqual(cream);
    expect(await found(`sku_id=${a}&warehouse_id=${there}&keyword=&warning_only=`)).toEqual([all[0]]);
    const [row] = await list(`/stocks?sku_id=${b}`);
    expect(row.sku_name).toBe('Filter teapot (Navy)');
    expect((await wms('GET', `/stocks?sku_id=${a}`, undefined, 'zh-CN')).data.list[0].sku_name).toBe('茶壶 (奶油色)');

    await wms('PUT', `/stocks/${row.id}/safety`, { safe_qty: 2 });
    for (const [value, rows] of [
      ['1', [[here, b]]],
      ['true', [[here, b]]],
      ['0', all],
      ['false', all],
      ['', all],
    ] as const)
      expect(await found(`keyword=filter&warning_only=${value}`), value).toEqual(rows);
    expect(await wms('GET', '/stocks?warning_only=maybe')).toMatchObject({
      code: 400,
      message: expect.stringContaining('warning_only'),
    });
  });

  test('by-skus answers an array with a row per warehouse; a wrong list is refused with the field name', async () => {
    const [here, there] = [await warehouse(), await warehouse()];
    const [a, b] = (await skus(2)) as [number, number];
    await moved(there, 'inbound', [{ sku_id: a, qty: 4 }]);
    await moved(here, 'inbound', [{ sku_id: a, qty: 3 }]);
    const { data } = await wms('GET', `/stocks/by-skus?sku_ids=${a},%20${b},${a}`);
    for (const row of data) expectFields(row, fields.stock);
    expect(data.map((row: { warehouse_id: number; qty: number }) => [row.warehouse_id, row.qty])).toEqual([
      [here, 3],
      [there, 4],
    ]);
    for (const query of [`?sku_ids=${b}`, '?sku_ids=', ''])
      expect((await wms('GET', `/stocks/by-skus${query}`)).data, query).toEqual([]);
    for (const bad of ['a', '1,', '1;2', '-1', '1.5', '0', '1,,2', '9'.repeat(20)])
      expect(await wms('GET', `/stocks/by-skus?sku_ids=${encodeURIComponent(bad)}`), bad).toMatchObject({
        status: 200,
        code: 400,
        message: expect.stringContaining('sku_ids'),
      });
  });
});

describe('movements', () => {
  test('rows have every field and the id of their document; filters', async () => {
    const [here, there] = [await warehouse(), await warehouse()];
    const [a, b] = (await skus(2, 'Tray')) as [number, number];
    const inbound = await moved(here, 'inbound', [
      { sku_id: a, qty: 5 },
      { sku_id: b, qty: 2 },
      { sku_id: a, qty: 1 },
    ]);
    const outbound = await moved(here, 'outbound', [{ sku_id: a, qty: 4 }]);
    await moved(there, 'inbound', [{ sku_id: a, qty: 9 }]);
    const { doc_no } = (await wms('GET', `/docs/${inbound}`)).data;
    const rows = await list(`/movements?warehouse_id=${here}`);
    for (const row of rows) {
      expectFields(row, fields.movement);
      expect(row).toMatchObject({ warehouse_name: `Warehouse ${codes - 1}`, sku_name: 'Tray' });
    }
    // biome-ignore lint/suspicious/noExplicitAny: rows as answered
    const brief = (of: any[]) =>
      of.map((row) => [row.doc_id, row.biz_type, row.sku_id, row.change_qty, row.before_qty, row.after_qty]);
    expect(brief(rows)).toEqual([
      [outbound, 'outbound', a, -4, 6, 2],
      [inbound, 'inbound', a, 1, 5, 6],
      [inbound, 'inbound', b, 2, 0, 2],
      [inbound, 'inbound', a, 5, 0, 5],
    ]);
    const count = async (query: string) => (await wms('GET', `/movements?${query}`)).data.total;
    expect(await count(`sku_id=${a}`)).toBe(4);
    expect(await count(`sku_id=${a}&warehouse_id=${there}`)).toBe(1);
    expect(await count(`sku_id=${a}&biz_type=outbound`)).toBe(1);
    expect(await count(`sku_id=${a}&biz_type=order_outbound&doc_no=`)).toBe(0);
    expect(await count(`doc_no=${doc_no}`)).toBe(3);
    expect(await count(`doc_no=${doc_no.slice(0, -1)}`), 'the whole number').toBe(0);
    expect(await wms('GET', '/movements?biz_type=x')).toMatchObject({
      code: 400,
      message: expect.stringContaining('biz_type'),
    });
  });
});

describe('dates: ISO 8601, with a blank, or a day; both ends are included', () => {
  const ids: Record<string, number> = {};
  let sku: number;
  beforeAll(async () => {
    const here = await warehouse();
    [sku] = (await skus()) as [number];
    // The time zone of the shop is +08:00.
    for (const at of [
      '2026-01-31T15:59:59.999999Z',
      '2026-01-31T16:00:00Z',
      '2026-02-01T15:59:59.999999Z',
      '2026-02-01T16:00:00Z',
    ]) {
      const id = await moved(here, 'inbound', [{ sku_id: sku, qty: 1 }]);
      await shop.database.sql`update inventory.stock_documents set created_at = ${at} where id = ${id}`;
      await shop.database.sql`update inventory.stock_movements set occurred_at = ${at} where doc_id = ${id}`;
      ids[at] = id;
    }
  });
  const [before, first, last, after] = [0, 1, 2, 3];
  test.each([
    ['start_at=2026-02-01&end_at=2026-02-01', [last, first]],
    ['start_at=2026-02-01 00:00:00&end_at=2026-02-01 23:59:59', [last, first]],
    ['start_at=2026-02-01T00:00:00&end_at=2026-02-01T23:59', [last, first]],
    ['start_at=2026-01-31T16:00:00Z&end_at=2026-02-01T15:59:59Z', [last, first]],
    ['start_at=2026-02-01T00:00:00+08:00&end_at=2026-02-01T23:59:59+08:00', [last, first]],
    ['start_at=2026-02-01 00:00:00&end_at=2026-02-01 00:00:00', [first]],
    ['start_at=2026-02-01 00:00:01&end_at=2026-02-02 00:00:00', [after, last]],
    ['end_at=2026-01-31', [before]],
    ['start_at=&end_at=2026-02-01', [last, first, before]],
    ['start_at=2026-03-01&end_at=2026-02-01', []],
  ])('%s', async (text, expected) => {
    const query = new URLSearchParams(text.replaceAll('+', '%2B'));
    const wanted = expected.map((index) => Object.values(ids)[index]!);
    const docs = (await idsIn(`/docs?${query}`)).filter((id) => Object.values(ids).includes(id));
    expect(docs).toEqual(wanted);
    const movements = await list(`/movements?sku_id=${sku}&${query}`);
    expect(movements.map((row: { doc_id: number }) => row.doc_id)).toEqual(wanted);
  });

  test.each(['2026-02-30', 'yesterday', '1772325600', '2026-13-01', '2026-02-01T25:00:00', '01.02.2026'])(
    '%s is refused by its name',
    async (wrong) => {
      for (const path of ['docs', 'movements'])
        for (const field of ['start_at', 'end_at']) {
          const url = `/${path}?${field}=${encodeURIComponent(wrong)}`;
          expect(await wms('GET', url)).toMatchObject({
            status: 200,
            code: 400,
            message: expect.stringContaining(field),
          });
          expect((await wms('GET', url, undefined, 'zh-CN')).message).toMatch(chinese);
        }
    },
  );
});

test('wms:view permits reads only, wms:edit writes only', async () => {
  const calls: [string, string, string][] = [
    ['GET', '/warehouses', 'wms:view'],
    ['POST', '/warehouses', 'wms:edit'],
    ['PUT', '/warehouses/1', 'wms:edit'],
    ['PUT', '/warehouses/1/status', 'wms:edit'],
    ['GET', '/stocks', 'wms:view'],
    ['GET', '/stocks/by-skus', 'wms:view'],
    ['PUT', '/stocks/1/safety', 'wms:edit'],
    ['PUT', '/stocks/1/safe-qty', 'wms:edit'],
    ['GET', '/docs', 'wms:view'],
    ['POST', '/docs', 'wms:edit'],
    ['GET', '/docs/1', 'wms:view'],
    ['PUT', '/docs/1', 'wms:edit'],
    ['POST', '/docs/1/complete', 'wms:edit'],
    ['POST', '/docs/1/cancel', 'wms:edit'],
    ['GET', '/movements', 'wms:view'],
  ];
  for (const [method, path, needed] of calls)
    for (const perm of ['wms:view', 'wms:edit']) {
      const limited = await shop.server.tokens.issue({ role: 'admin', id: staffId, perms: [perm] });
      const body = method === 'GET' ? undefined : {};
      const { code } = await shop.call(method, `/admin/api/wms${path}`, { token: limited, body });
      expect(code === 403, `${method} ${path} with ${perm}`).toBe(perm !== needed);
    }
});

test('afterwards all audits pass', async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
