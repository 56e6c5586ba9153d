import { afterEach, describe, expect, test } from 'vitest';
import { openTested, type Tested } from '../test-shop.ts';

let tested: Tested;
const open = async (options: Parameters<typeof openTested>[0] = {}) => {
  tested = await openTested(options);
  return tested;
};
afterEach(() => tested.close());

const stockOf = (id: number) => {
  const { on_hand, reserved } = tested.sku(id)!;
  return [on_hand, reserved];
};

describe('stock changes with the documents', () => {
  test('reserve, confirm and release change the stock', async () => {
    const { reserve, confirm, release, state } = await open({ stock: 10 });
    expect(await reserve('A', [[1, 3]])).toMatchObject({
      status: 200,
      code: 0,
      body: { request_id: 'order:A:reserve' },
    });
    expect(stockOf(1)).toEqual([10, 3]);
    expect((await confirm('A')).code).toBe(0);
    expect([stockOf(1), state('A')]).toEqual([[7, 0], 'confirmed']);
    await reserve('B', [[1, 4]]);
    expect((await release('B')).code).toBe(0);
    expect([stockOf(1), state('B')]).toEqual([[7, 0], 'released']);
  });

  test('a reserve with one shortage reserves no line', async () => {
    const { reserve, state } = await open({ stock: 5 });
    await reserve('A', [[2, 4]]);
    const answer = await reserve('B', [
      [1, 1],
      [2, 2],
    ]);
    expect(answer).toMatchObject({ status: 200, code: 4003 });
    expect(answer.message).toContain('SKU 2: 1 sellable, 2 asked for');
    expect([stockOf(1), stockOf(2), state('B')]).toEqual([[5, 0], [5, 4], undefined]);
  });

  test('two lines of one SKU are checked together', async () => {
    const { reserve } = await open({ stock: 5 });
    const twice = await reserve('A', [
      [1, 3],
      [1, 3],
    ]);
    expect(twice.code).toBe(4003);
  });

  test('only a reserved document can be confirmed, and a confirmed one can not be released', async () => {
    const { reserve, confirm, release } = await open({ rememberRefusals: false });
    expect((await confirm('A')).code).toBe(4004);
    await reserve('A', [[1, 1]]);
    expect((await confirm('A')).code).toBe(0);
    expect((await release('A')).code).toBe(4004);
    expect(stockOf(1)).toEqual([999_999, 0]);
  });

  test('a release without a reservation succeeds, and a later reserve is refused', async () => {
    const { reserve, release, confirm } = await open({ stock: 5 });
    expect((await release('A')).code).toBe(0);
    expect((await reserve('A', [[1, 1]])).code).toBe(4004);
    expect((await confirm('A')).code).toBe(4004);
    expect(tested.simulator.ledger().skus).toEqual([]);
  });

  test('deduct reduces the sellable quantity, restore adds to it', async () => {
    const { reserve, deduct, restore } = await open({ stock: 5 });
    await reserve('A', [[1, 3]]);
    expect((await deduct('B', [[1, 3]])).code).toBe(4003);
    expect((await deduct('C', [[1, 2]])).code).toBe(0);
    expect((await restore('A', [[1, 4]])).code).toBe(0);
    expect(stockOf(1)).toEqual([7, 3]);
  });

  test('sync sets the quantity on hand, but not below the reserved quantity', async () => {
    const { reserve, sync, call } = await open({ stock: 10 });
    await reserve('A', [[1, 4]]);
    expect((await sync('1-1', 1, 20)).code).toBe(0);
    expect(stockOf(1)).toEqual([20, 4]);
    expect((await sync('1-2', 1, 0)).code).toBe(0);
    expect(stockOf(1)).toEqual([4, 4]);
    const { body } = await call('/stock/sellable', { sku_ids: [1, 2] });
    expect(body.data).toEqual([
      { sku_id: 1, sellable_stock: 0, reserved: 4, on_hand: 4 },
      { sku_id: 2, sellable_stock: 10, reserved: 0, on_hand: 10 },
    ]);
  });

  test('the net change of a SKU is the sum of changes by documents and by sync', async () => {
    const { reserve, confirm, deduct, restore, sync, simulator } = await open({ stock: 100 });
    await reserve('A', [[1, 7]]);
    await confirm('A');
    await deduct('B', [[1, 5]]);
    await restore('A', [[1, 2]]);
    await sync('1-1', 1, 50);
    await simulator.setStock(1, 60);
    const row = { sku_id: 1, on_hand: 60, reserved: 0, net_change: -40, by_documents: -10, by_sync: -30 };
    expect(tested.sku(1)).toEqual(row);
    const over = (await (await fetch(`${simulator.url}/_ledger`)).json()) as ReturnType<typeof simulator.ledger>;
    expect(over).toEqual(JSON.parse(JSON.stringify(simulator.ledger())));
    expect(over.documents).toContainEqual({
      ...{ biz_type: 'order', biz_no: 'A', state: 'confirmed', items: [{ sku_id: 1, qty: 7 }] },
      ...{ deducted: [], restored: [{ sku_id: 1, qty: 2 }] },
    });
  });
});

describe('each action is done once', () => {
  test('a repeated action gets the same answer and does nothing, also many at the same time', async () => {
    const { reserve, confirm, deduct, restore, simulator } = await open({ stock: 100 });
    const often = (one: () => Promise<{ code: unknown }>) => Promise.all(Array.from({ length: 50 }, one));
    const answers = [
      ...(await often(() => reserve('A', [[1, 2]]))),
      ...(await often(() => confirm('A'))),
      ...(await often(() => deduct('A', [[1, 3]]))),
      ...(await often(() => restore('A', [[1, 1]]))),
    ];
    expect(answers.every(({ code }) => code === 0)).toBe(true);
    expect(stockOf(1)).toEqual([96, 0]);
    expect([simulator.seen('order:A:deduct'), simulator.counters().repeats]).toEqual([50, 196]);
  });

  test('the order of lines does not matter, but their quantities do', async () => {
    const { reserve } = await open();
    await reserve('A', [
      [1, 1],
      [2, 2],
    ]);
    const reordered = await reserve('A', [
      [2, 2],
      [1, 1],
    ]);
    expect(reordered.code).toBe(0);
    const other = await reserve('A', [[1, 1]]);
    expect(other).toMatchObject({ code: 4004, body: { request_id: 'order:A:reserve' } });
    expect(stockOf(2)).toEqual([1_000_000, 2]);
  });

  test('a request_id belongs to one action', async () => {
    const { call } = await open();
    const body = { biz_type: 'order', biz_no: 'A', items: [{ sku_id: 1, qty: 1 }], request_id: 'R1' };
    expect((await call('/reserve', body)).body).toMatchObject({ code: 0, request_id: 'R1' });
    expect((await call('/reserve', { ...body, biz_no: 'B' })).message).toContain('belongs to order:A:reserve');
    // The same action with another request_id is the same action.
    expect((await call('/reserve', { ...body, request_id: 'R2' })).body).toMatchObject({ code: 0, request_id: 'R2' });
    expect(stockOf(1)).toEqual([1_000_000, 1]);
  });

  test('the header Idempotency-Key is the request_id, and may not differ from it', async () => {
    const { reserve, call } = await open();
    const headers = { 'idempotency-key': 'K1' };
    expect((await reserve('A', [[1, 1]], { headers })).body.request_id).toBe('K1');
    expect((await reserve('B', [[1, 1]], { headers })).code).toBe(4004);
    const body = { biz_type: 'order', biz_no: 'A', request_id: 'K2' };
    expect(await call('/confirm', body, { headers })).toMatchObject({ code: 4001 });
  });

  test('a refusal is repeated while refusals are remembered', async () => {
    const { reserve, simulator } = await open({ stock: 1 });
    expect((await reserve('A', [[1, 2]])).code).toBe(4003);
    await simulator.setStock(1, 5);
    expect((await reserve('A', [[1, 2]])).code).toBe(4003);
    expect(stockOf(1)).toEqual([5, 0]);
    simulator.change({ rememberRefusals: false });
    expect((await reserve('A', [[1, 2]])).code).toBe(0);
    expect(stockOf(1)).toEqual([5, 2]);
    expect(simulator.counters().refusals).toEqual({ 4003: 2 });
  });
});
