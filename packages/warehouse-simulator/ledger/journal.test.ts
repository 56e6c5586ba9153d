import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTested, openTestShop } from '../test-shop.ts';

let folder: string;
let journal: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradepost-simulator-'));
  journal = join(folder, 'warehouse.jsonl');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const ledgerOf = ({ simulator }: Awaited<ReturnType<typeof openTested>>) => {
  const { skus, documents } = simulator.ledger();
  return { skus, documents };
};

test('a restarted warehouse keeps its ledger, and repeats its answers', async () => {
  const first = await openTested({ journal, stock: 10 });
  await Promise.all(['A', 'B', 'C', 'D'].map((no) => first.reserve(no, [[1, 2]])));
  await first.confirm('A');
  await first.release('B');
  expect((await first.reserve('E', [[1, 9]])).code).toBe(4003);
  await first.deduct('F', [[2, 3]]);
  await first.restore('A', [[1, 1]]);
  await first.sync('1-1', 3, 77);
  await first.simulator.setStock(4, 5);
  const ledger = ledgerOf(first);
  await first.close();

  for (let restarts = 0; restarts < 2; restarts += 1) {
    const next = await openTested({ journal, stock: 500 });
    expect(ledgerOf(next)).toEqual(ledger);
    expect((await next.reserve('C', [[1, 2]])).code).toBe(0);
    expect((await next.deduct('F', [[2, 3]])).code).toBe(0);
    expect((await next.reserve('E', [[1, 9]])).code).toBe(4003);
    expect((await next.reserve('C', [[1, 3]])).code).toBe(4004);
    expect(ledgerOf(next)).toEqual(ledger);
    await next.close();
  }
  const last = await openTested({ journal, stock: 600 });
  await last.confirm('C');
  expect(last.sku(1)).toMatchObject({ on_hand: 7, reserved: 2 });
  // Only new SKUs begin with the changed initial stock.
  await last.reserve('G', [[9, 1]]);
  expect(last.sku(9)?.on_hand).toBe(600);
  await last.close();
});

test('a kill loses no answered action, and an incomplete last line is cut off', async () => {
  const first = await openTested({ journal });
  await first.reserve('A', [[1, 2]]);
  const lines = await readFile(journal, 'utf8');
  expect(lines).toContain('order:A:reserve');
  await first.close();
  await appendFile(journal, '{"t":"action","intent":{"act');
  const next = await openTested({ journal });
  expect(next.state('A')).toBe('reserved');
  await next.confirm('A');
  await next.close();
  const last = await openTested({ journal });
  expect(last.state('A')).toBe('confirmed');
  await last.close();
});

test('a journal of an earlier version is read', async () => {
  const intent = {
    action: 'reserve',
    biz_type: 'order',
    biz_no: 'A',
    request_id: 'order:A:reserve',
    items: [{ sku_id: 1, qty: 2 }],
  };
  const lines = [
    { t: 'open', stock: 10 },
    { t: 'deed', intent, answer: { code: 0, message: 'done' }, callback: 'owed' },
    { t: 'told', key: 'order:A:reserve', callback: 'delivered' },
  ];
  await writeFile(journal, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const tested = await openTested({ journal });
  expect([tested.state('A'), tested.sku(1)?.reserved]).toEqual(['reserved', 2]);
  await tested.close();
});

test('a file that is not a journal is refused and not changed', async () => {
  for (const text of ['a diary\nof mine\n', 'no line feed', '{"t":"open","stock":1}\nnonsense\n']) {
    await writeFile(journal, text);
    await expect(openTested({ journal })).rejects.toThrow(/warehouse\.jsonl:\d is not of the journal/);
    expect(await readFile(journal, 'utf8')).toBe(text);
  }
});

test('callbacks that were owed are sent after a restart; delivered and lost ones are not', async () => {
  const shop = await openTestShop();
  const options = { journal, callbacks: 'async', callbackUrl: shop.url } as const;
  const first = await openTested(options);
  await first.reserve('A', [[1, 1]]);
  await first.simulator.idle();
  first.simulator.change({ lostCallbackRate: 1 });
  await first.reserve('B', [[1, 1]]);
  await first.simulator.idle();
  first.simulator.change({ lostCallbackRate: 0, callbackDelayMs: 60_000 });
  await first.reserve('C', [[1, 1]]);
  first.simulator.change({ carryOut: 'later' });
  await first.reserve('D', [[1, 1]]);
  await first.close();
  expect(shop.seen.map(({ request_id }) => request_id)).toEqual(['order:A:reserve']);

  const next = await openTested(options);
  await next.simulator.idle();
  expect(shop.seen.map(({ request_id }) => request_id).sort()).toEqual(
    ['A', 'C', 'D'].map((no) => `order:${no}:reserve`),
  );
  expect([next.state('D'), next.sku(1)?.reserved]).toEqual(['reserved', 4]);
  expect(next.simulator.ledger().callbacks).toMatchObject([{ key: 'order:B:reserve', state: 'lost' }]);
  await next.close();
  await shop.close();
});
