import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { byteOrderMark, toCsv } from '@tradepost/csv';
import { openDatabase } from '@tradepost/postgres';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { commandEnvironment } from '@tradepost/testing/processes/process';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { exportOrders } from './export-orders.ts';
import { type ImportOptions, importOrders } from './import-orders.ts';
import { cellsOf, columnsOf, type OrderRecord } from './order-record.ts';
import { specsOf, specsText } from './specs.ts';

/** Any history of an older shop goes through a shop unchanged: random orders, killed imports, and large files. */
let folder: string;
const databases: TestDatabase[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradepost-histories-'));
});
afterEach(async () => {
  for (const database of databases.splice(0)) await database.drop();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function newDatabase(): Promise<TestDatabase> {
  const database = await cloneDatabase();
  databases.push(database);
  return database;
}

const style = { zone: 'Asia/Shanghai', locale: 'en' } as const;
const options: ImportOptions = {
  ...style,
  ...{ now: new Date(), dryRun: false, match: 'phone', readers: [], onFault() {}, onProgress() {} },
};
const shown = { ...style, receivers: true, ids: false };
const everything = {
  ...{ status: null, pay_method: null, time_start: null, time_end: null, amount_min: null, amount_max: null },
  ...{ provinces: null, restrictedTo: null, keyword: null },
};
const fileOf = (orders: readonly OrderRecord[]) => {
  const columns = columnsOf(shown);
  const rows = orders.flatMap((order) =>
    cellsOf(order, style).map((cells) => columns.map((name) => cells[name] ?? '')),
  );
  return byteOrderMark + toCsv([columns, ...rows]);
};
const open = (text: string) =>
  async function* () {
    yield Buffer.from(text);
  };
async function exported({ url }: TestDatabase): Promise<string> {
  const sql = openDatabase(url, { max: 2 });
  try {
    let text = '';
    for await (const piece of exportOrders(sql, { filter: everything, ...shown })) text += piece.text;
    return text;
  } finally {
    await sql.end();
  }
}

const anyText = (maxLength: number) =>
  fc
    .oneof(fc.string({ maxLength }), fc.string({ maxLength, unit: fc.constantFrom(...' \\/;:\'",=+-@\n\t\ra搪＝') }))
    .filter((text) => !text.includes('\0') && text.isWellFormed() && text.length <= maxLength);
const item = fc.record({
  ...{
    product_id: fc.constant(0),
    sku_id: fc.constant(0),
    sku_code: anyText(20),
    specs: anyText(40),
    activity: anyText(10),
  },
  title: anyText(30).filter((text) => text.trim() !== '' && text !== '""'),
  ...{ price: fc.nat(1_000_000), qty: fc.integer({ min: 1, max: 50 }) },
});
const anyOrder = fc
  .record({
    status: fc.constantFrom(4, 6),
    ...{
      created: fc.integer({ min: 1_262_304_000, max: 1_750_000_000 }),
      paidAfter: fc.nat(100_000),
      isPaid: fc.boolean(),
    },
    ...{
      payment_method: fc.constantFrom('wechat', 'alipay', 'cash', ''),
      tracking_no: anyText(20),
      remark: anyText(60),
    },
    ...{ discount: fc.double({ min: 0, max: 1, noNaN: true }), freight_amount: fc.constantFrom(0, 0, 1, 500) },
    shopper: fc.record({ id: fc.constant(0), nickname: anyText(20), account: anyText(20), phone: anyText(20) }),
    receiver: fc.record({
      ...{ name: anyText(20), phone: anyText(20), province: anyText(10), city: anyText(10), district: anyText(10) },
      detail: anyText(40),
    }),
    items: fc.array(item, { minLength: 1, maxLength: 4 }),
  })
  .map(({ created, paidAfter, isPaid, discount, items, ...order }): Omit<OrderRecord, 'order_no'> => {
    const goods_amount = items.reduce((sum, { price, qty }) => sum + price * qty, 0);
    const discount_amount = Math.floor(goods_amount * discount);
    const total_amount = goods_amount - discount_amount + order.freight_amount;
    let left = total_amount;
    const lines = items.map((one, index) => {
      const most = index === items.length - 1 ? left : Math.min(left, one.price * one.qty);
      left -= most;
      return { ...one, payable_amount: most };
    });
    const created_at = new Date(created * 1000);
    const paid_at = isPaid || order.status === 4 ? new Date((created + paidAfter) * 1000) : null;
    return {
      ...order,
      ...{ order_id: 0, created_at, paid_at, goods_amount, discount_amount, total_amount, items: lines },
    };
  });

test('the text of specs is the same after reading it', () => {
  fc.assert(fc.property(anyText(60), (text) => specsText(specsOf(text)) === text));
});

test('random orders come out of the shop as they went in, and break no audit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyOrder, { minLength: 1, maxLength: 12 }), async (orders) => {
      const database = await cloneDatabase();
      try {
        const text = fileOf(orders.map((order, n) => ({ ...order, order_no: `R/${n}` })));
        const faults: unknown[] = [];
        const done = await importOrders(database.sql, open(text), {
          ...options,
          onFault: (fault) => faults.push(fault),
        });
        expect(faults).toEqual([]);
        expect(done.created).toBe(orders.length);
        const oldestFirst = orders[0]!.created_at < orders.at(-1)!.created_at;
        if (!oldestFirst) expect(await exported(database)).toBe(text);
        else expect((await exported(database)).split('\r\n').sort()).toEqual(text.split('\r\n').sort());
        expect(await importOrders(database.sql, open(text), options)).toMatchObject({
          created: 0,
          unchanged: orders.length,
        });
        expect(await auditViolations(database.sql)).toEqual([]);
      } finally {
        await database.drop();
      }
    }),
    { numRuns: 6 },
  );
}, 120_000);

/** Lines of `count` orders of two lines each, newest first. */
function* manyLines(count: number): Generator<string> {
  yield 'order_no,status,created_at,paid_at,shopper_phone,receiver_name,item_sku_code,item_title,item_price,item_qty\r\n';
  for (let n = count; n > 0; n -= 1) {
    const at = new Date(1_500_000_000_000 + n * 60_000).toISOString().slice(0, 19);
    for (const name of ['Mug', 'Jug'])
      yield `M-${n},4,${at},${at},1390000${n % 10_000},Receiver ${n % 977},${name}-${n % 100},${name} ${n % 100},12.90,${1 + (n % 3)}\r\n`;
  }
}

const script = join(import.meta.dirname, '../../../bin/tradepost.ts');
const importing = (database: TestDatabase, file: string) => {
  const child = spawn(process.execPath, [script, 'orders', 'import', file], {
    env: commandEnvironment({ DATABASE_URL: database.url, TRADEPOST_DATA: folder }),
    stdio: 'ignore',
  });
  return { child, ended: once(child, 'close').then(([code]) => code) };
};

test('an import that is killed and run again ends as one that was not killed', async () => {
  const file = join(folder, 'killed.csv');
  await writeFile(file, [...manyLines(3_000)].join(''));
  const [whole, killed] = [await newDatabase(), await newDatabase()];
  expect(await importing(whole, file).ended).toBe(0);
  let kills = 0;
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const orders = async () => Number((await killed.sql`select count(*)::int as n from orders.orders`)[0]!.n);
    const before = await orders();
    const { child, ended } = importing(killed, file);
    while (child.exitCode === null && (await orders()) < before + 600) await sleep(5);
    if (child.kill('SIGKILL')) kills += 1;
    await ended;
  }
  expect(kills).toBeGreaterThan(0);
  expect(await importing(killed, file).ended).toBe(0);
  const state = async ({ sql }: TestDatabase) =>
    (
      await sql`
      select (select md5(string_agg(o::text, '|' order by id)) from orders.orders o) as orders,
             (select md5(string_agg((to_jsonb(i) - 'id')::text, '|' order by order_id, id)) from orders.order_items i) as lines,
             (select md5(string_agg((to_jsonb(h) - 'id')::text, '|' order by order_id, id)) from orders.order_history h) as history,
             (select md5(string_agg((to_jsonb(m) - 'imported_at')::text, '|' order by order_id)) from orders.imported_orders m)
               as imported,
             (select count(*)::int from orders.orders) as count`
    )[0];
  expect(await state(killed)).toEqual(await state(whole));
  expect(await exported(killed)).toBe(await exported(whole));
  expect(await auditViolations(killed.sql)).toEqual([]);
}, 180_000);

test('memory does not grow with the file', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { sql } = await newDatabase();
  const orders = 50_000;
  let peak = 0;
  let atStart = 0;
  let batches = 0;
  const source = async function* () {
    let text = '';
    for (const line of manyLines(orders)) {
      text += line;
      if (text.length > 60_000) {
        yield Buffer.from(text);
        text = '';
      }
    }
    yield Buffer.from(text);
  };
  const done = await importOrders(sql, source, {
    ...options,
    // The writing of the rows is the database's part; this test is about ours.
    dryRun: true,
    onProgress({ lines }) {
      batches += 1;
      if (batches % 10 !== 0) return;
      collect();
      const used = process.memoryUsage().heapUsed;
      if (lines < 25_000) atStart = Math.max(atStart, used);
      peak = Math.max(peak, used);
    },
  });
  expect(done).toMatchObject({ lines: 100_000, created: orders, failed: 0 });
  expect(peak - atStart).toBeLessThan(10_000_000);
}, 180_000);
