import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CallbackSeen, openTested, openTestShop, type Tested, type TestShop } from '../test-shop.ts';

let shop: TestShop;
let tested: Tested | undefined;
let onCallback: (seen: CallbackSeen) => void;
beforeEach(async () => {
  onCallback = () => {};
  shop = await openTestShop((seen) => onCallback(seen));
});
afterEach(async () => {
  await tested?.close();
  await shop.close();
});
const open = async (options: Parameters<typeof openTested>[0] = {}) => {
  tested = await openTested({ callbacks: 'async', callbackUrl: shop.url, callbackPauseMs: 5, ...options });
  return tested;
};

const items = [[1, 2]] as const;
const told = () => shop.seen.map(({ request_id, status }) => [request_id, status]);

test('code 0 means accepted, a signed callback tells the end', async () => {
  const { reserve, simulator } = await open({ callbackDelayMs: 50, callbackJitterMs: 20 });
  const answer = await reserve('A', items, { headers: { 'idempotency-key': 'R7' } });
  expect(answer).toMatchObject({ code: 0, message: 'accepted' });
  expect([shop.seen.length, tested!.state('A')]).toEqual([0, 'reserved']);
  expect(simulator.ledger().callbacks).toEqual([{ key: 'order:A:reserve', request_id: 'R7', state: 'owed' }]);
  await simulator.idle();
  expect(shop.seen).toMatchObject([{ request_id: 'R7', status: 'success', signed: true }]);
  expect([simulator.ledger().callbacks, simulator.counters().callbacks.delivered]).toEqual([[], 1]);
});

test('the work may be put off until the callback, and is done once however often it is asked for', async () => {
  const { reserve, simulator } = await open({ callbackDelayMs: 80, carryOut: 'later' });
  await reserve('A', items);
  expect(tested!.state('A')).toBeUndefined();
  expect((await reserve('A', items)).message).toBe('accepted');
  // Told later than both deliveries of A would be.
  await reserve('B', [[2, 1]]);
  await simulator.idle();
  expect([tested!.state('A'), tested!.sku(1)?.reserved]).toEqual(['reserved', 2]);
  expect(told()).toEqual([
    ['order:A:reserve', 'success'],
    ['order:B:reserve', 'success'],
  ]);
});

describe('a shortage', () => {
  test('is told by its code at once', async () => {
    const { reserve, simulator } = await open({ stock: 1 });
    expect((await reserve('A', items)).code).toBe(4003);
    expect((await reserve('A', items)).code).toBe(4003);
    await simulator.idle();
    expect(shop.seen).toEqual([]);
  });

  test.each(['at_once', 'later'] as const)('or by a failed callback, carried out %s', async (carryOut) => {
    const { reserve, simulator } = await open({ stock: 1, refusalsBy: 'callback', carryOut });
    expect((await reserve('A', items)).code).toBe(0);
    await simulator.idle();
    expect(told()).toEqual([['order:A:reserve', 'failed']]);
    expect(shop.seen[0]!.message).toContain('4003 SKU 1');
    expect(tested!.state('A')).toBeUndefined();
  });
});

describe('the shop is asked again', () => {
  test('until it takes the callback: same callback_id, new nonce', async () => {
    shop.answers.push({ code: 500 }, { status: 503, code: 0 }, 'cut', { code: 429 });
    const { reserve, simulator } = await open();
    await reserve('A', items);
    await simulator.idle();
    expect(shop.seen.length).toBe(5);
    expect(new Set(shop.seen.map((seen) => seen.callback_id)).size).toBe(1);
    expect(new Set(shop.seen.map((seen) => seen.nonce)).size).toBe(5);
    expect(simulator.counters().callbacks).toMatchObject({ sent: 5, delivered: 1 });
  });

  test('but not after a definite refusal', async () => {
    shop.answers.push({ code: 400 });
    const { reserve, simulator } = await open();
    await reserve('A', items);
    await simulator.idle();
    expect([shop.seen.length, simulator.counters().callbacks.refused]).toEqual([1, 1]);
  });

  test('and not for ever; a delivery afterwards starts anew', async () => {
    shop.answers.push({ code: 500 }, { code: 500 }, { code: 500 });
    const { reserve, simulator } = await open({ callbackAttempts: 3 });
    await reserve('A', items);
    await simulator.idle();
    expect([shop.seen.length, simulator.counters().callbacks.given_up]).toEqual([3, 1]);
    await reserve('A', items);
    await simulator.idle();
    expect([shop.seen.length, simulator.counters().callbacks.delivered]).toEqual([4, 1]);
  });

  test('a shop that hangs is given up after the time-out', async () => {
    const { createServer } = await import('node:net');
    const silent = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as { port: number };
    const callbackUrl = `http://127.0.0.1:${port}/`;
    const { reserve, simulator } = await open({ callbackUrl, callbackTimeoutMs: 30, callbackAttempts: 2 });
    await reserve('A', items);
    await simulator.idle();
    expect(simulator.counters().callbacks).toMatchObject({ sent: 2, given_up: 1 });
    silent.close();
  });
});

test('a delivery after the callback has been taken is told again, under a new callback_id', async () => {
  const { reserve, simulator } = await open();
  for (let i = 0; i < 2; i += 1) {
    await reserve('A', items);
    await simulator.idle();
  }
  expect(new Set(shop.seen.map((seen) => seen.callback_id)).size).toBe(2);
  expect(tested!.sku(1)?.reserved).toBe(2);
});

test('what was done before callbacks were switched on is told when it is delivered again', async () => {
  const { reserve, simulator } = await open({ callbacks: 'none' });
  expect((await reserve('A', items)).message).toBe('done');
  simulator.change({ callbacks: 'async' });
  expect((await reserve('A', items)).message).toBe('accepted');
  await simulator.idle();
  expect(told()).toEqual([['order:A:reserve', 'success']]);
});

describe('misbehaviour', () => {
  test('a callback that comes twice: same callback_id, new nonce', async () => {
    const { reserve, simulator } = await open({ duplicateRate: 1 });
    await reserve('A', items);
    await simulator.idle();
    const [first, second] = shop.seen;
    expect([shop.seen.length, second!.callback_id]).toEqual([2, first!.callback_id]);
    expect(second!.nonce).not.toBe(first!.nonce);
    expect(simulator.counters().callbacks).toMatchObject({ delivered: 1, duplicates: 1 });
  });

  test('a callback that comes before the answer to the call', async () => {
    const order: string[] = [];
    onCallback = () => void order.push('callback');
    const { reserve } = await open({ earlyRate: 1, callbackDelayMs: 500, carryOut: 'later' });
    await reserve('A', items).then(() => order.push('answer'));
    expect([order, tested!.state('A')]).toEqual([['callback', 'answer'], 'reserved']);
  });

  test('a callback that comes late', async () => {
    const { reserve, simulator } = await open({ lateRate: 1, lateMs: 60_000 });
    await reserve('A', items);
    expect([shop.seen.length, simulator.ledger().callbacks.length]).toEqual([0, 1]);
    simulator.change({ lateRate: 0 });
    await reserve('B', items);
    await expect.poll(told).toEqual([['order:B:reserve', 'success']]);
  });

  test('an action that is refused for no reason holds nothing, then and later', async () => {
    const { reserve, simulator } = await open({ failedCallbackRate: 1 });
    await reserve('A', items);
    await simulator.idle();
    simulator.change({ failedCallbackRate: 0 });
    await reserve('A', items);
    await simulator.idle();
    expect([told().map(([, status]) => status), tested!.state('A')]).toEqual([['failed', 'failed'], undefined]);
  });

  test('one that says processing first has an id of its own', async () => {
    const { reserve, simulator } = await open({ processingFirstRate: 1, carryOut: 'later' });
    onCallback = ({ status }) => status === 'processing' && expect(tested!.state('A')).toBeUndefined();
    await reserve('A', items);
    await simulator.idle();
    expect(shop.seen.map(({ status }) => status)).toEqual(['processing', 'success']);
    expect(shop.seen[0]!.callback_id).not.toBe(shop.seen[1]!.callback_id);
  });

  test('a lost one comes when the action is delivered again', async () => {
    const { reserve, simulator } = await open({ lostCallbackRate: 1 });
    await reserve('A', items);
    await simulator.idle();
    expect([told(), tested!.state('A')]).toEqual([[], 'reserved']);
    expect(simulator.ledger().callbacks).toMatchObject([{ key: 'order:A:reserve', state: 'lost' }]);
    await reserve('A', items);
    await simulator.idle();
    expect([told(), simulator.ledger().callbacks]).toEqual([[['order:A:reserve', 'success']], []]);
    expect(simulator.counters().callbacks).toMatchObject({ lost: 1, delivered: 1 });
  });

  test('an answer that failed after accepting is still followed by its callback', async () => {
    const { reserve, simulator } = await open({ failRate: 1, failCodes: [5000], failAfter: 1 });
    expect((await reserve('A', items)).code).toBe(5000);
    await simulator.idle();
    expect(told()).toEqual([['order:A:reserve', 'success']]);
  });

  test('all of it at once: each action is told its end, and the books say the same', async () => {
    const { reserve, confirm, release, simulator } = await open({
      ...{ stock: 1_000, seed: 3, jitterMs: 5, callbackJitterMs: 20, carryOut: 'later', faultsPerKey: 3 },
      ...{ failRate: 0.2, closeRate: 0.1, htmlRate: 0.1, stringCodeRate: 0.1 },
      ...{
        duplicateRate: 0.3,
        earlyRate: 0.2,
        failedCallbackRate: 0.1,
        processingFirstRate: 0.2,
        lostCallbackRate: 0.2,
      },
    });
    const ends = new Map<string, string>();
    onCallback = ({ request_id, status }) => {
      if (status === 'processing') return;
      expect(ends.get(request_id) ?? status).toBe(status);
      ends.set(request_id, status);
    };
    const settled = async (key: string, one: () => Promise<unknown>) => {
      while (!ends.has(key)) {
        await one().catch(() => {});
        await simulator.idle();
      }
      return ends.get(key) === 'success';
    };
    const books = { held: 0, taken: 0 };
    const life = async (index: number) => {
      const no = `O${index}`;
      if (!(await settled(`order:${no}:reserve`, () => reserve(no, items)))) return;
      const isConfirmed = index % 3 === 0 && (await settled(`order:${no}:confirm`, () => confirm(no)));
      const isReleased = index % 3 === 1 && (await settled(`order:${no}:release`, () => release(no)));
      if (isConfirmed) books.taken += 2;
      else if (!isReleased) books.held += 2;
    };
    await Promise.all(Array.from({ length: 60 }, (_, index) => life(index)));
    await simulator.idle();
    const { on_hand, reserved } = tested!.sku(1)!;
    expect([on_hand, reserved]).toEqual([1_000 - books.taken, books.held]);
    expect(books.taken).toBeGreaterThan(0);
  });
});
