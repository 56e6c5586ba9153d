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
const received = () => shop.seen.map(({ request_id, status }) => [request_id, status]);

test('code 0 means accepted, and a signed callback reports the result', async () => {
  const { reserve, simulator } = await open({ callbackDelayMs: 50, callbackJitterMs: 20 });
  const answer = await reserve('A', items, { headers: { 'idempotency-key': 'R7' } });
  expect(answer).toMatchObject({ code: 0, message: 'accepted' });
  expect([shop.seen.length, tested!.state('A')]).toEqual([0, 'reserved']);
  expect(simulator.ledger().callbacks).toEqual([{ key: 'order:A:reserve', request_id: 'R7', state: 'owed' }]);
  await simulator.idle();
  expect(shop.seen).toMatchObject([{ request_id: 'R7', status: 'success', signed: true }]);
  expect([simulator.ledger().callbacks, simulator.counters().callbacks.delivered]).toEqual([[], 1]);
});

test('the work can be done with the callback, and is done once for all deliveries', async () => {
  const { reserve, simulator } = await open({ callbackDelayMs: 80, carryOut: 'later' });
  await reserve('A', items);
  expect(tested!.state('A')).toBeUndefined();
  expect((await reserve('A', items)).message).toBe('accepted');
  // The callback of B is sent after both possible callbacks of A.
  await reserve('B', [[2, 1]]);
  await simulator.idle();
  expect([tested!.state('A'), tested!.sku(1)?.reserved]).toEqual(['reserved', 2]);
  expect(received()).toEqual([
    ['order:A:reserve', 'success'],
    ['order:B:reserve', 'success'],
  ]);
});

describe('a shortage', () => {
  test('is refused by its code', async () => {
    const { reserve, simulator } = await open({ stock: 1 });
    expect((await reserve('A', items)).code).toBe(4003);
    expect((await reserve('A', items)).code).toBe(4003);
    await simulator.idle();
    expect(shop.seen).toEqual([]);
  });

  test.each(['at_once', 'later'] as const)('is refused by a failed callback, carryOut %s', async (carryOut) => {
    const { reserve, simulator } = await open({ stock: 1, refusalsBy: 'callback', carryOut });
    expect((await reserve('A', items)).code).toBe(0);
    await simulator.idle();
    expect(received()).toEqual([['order:A:reserve', 'failed']]);
    expect(shop.seen[0]!.message).toContain('4003 SKU 1');
    expect(tested!.state('A')).toBeUndefined();
  });
});

describe('a callback is repeated', () => {
  test('until the shop accepts it: same callback_id, new nonce', async () => {
    shop.answers.push({ code: 500 }, { status: 503, code: 0 }, 'cut', { code: 429 });
    const { reserve, simulator } = await open();
    await reserve('A', items);
    await simulator.idle();
    expect(shop.seen.length).toBe(5);
    expect(new Set(shop.seen.map((seen) => seen.callback_id)).size).toBe(1);
    expect(new Set(shop.seen.map((seen) => seen.nonce)).size).toBe(5);
    expect(simulator.counters().callbacks).toMatchObject({ sent: 5, delivered: 1 });
  });

  test('but not after a final refusal', async () => {
    shop.answers.push({ code: 400 });
    const { reserve, simulator } = await open();
    await reserve('A', items);
    await simulator.idle();
    expect([shop.seen.length, simulator.counters().callbacks.refused]).toEqual([1, 1]);
  });

  test('a limited number of times; a later delivery starts again', async () => {
    shop.answers.push({ code: 500 }, { code: 500 }, { code: 500 });
    const { reserve, simulator } = await open({ callbackAttempts: 3 });
    await reserve('A', items);
    await simulator.idle();
    expect([shop.seen.length, simulator.counters().callbacks.given_up]).toEqual([3, 1]);
    await reserve('A', items);
    await simulator.idle();
    expect([shop.seen.length, simulator.counters().callbacks.delivered]).toEqual([4, 1]);
  });

  test('until the attempts are used up, when the shop does not answer in time', async () => {
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

test('a delivery after an accepted callback causes a callback with a new callback_id', async () => {
  const { reserve, simulator } = await open();
  for (let i = 0; i < 2; i += 1) {
    await reserve('A', items);
    await simulator.idle();
  }
  expect(new Set(shop.seen.map((seen) => seen.callback_id)).size).toBe(2);
  expect(tested!.sku(1)?.reserved).toBe(2);
});

test('an action from before callbacks were switched on gets a callback when it is delivered again', async () => {
  const { reserve, simulator } = await open({ callbacks: 'none' });
  expect((await reserve('A', items)).message).toBe('done');
  simulator.change({ callbacks: 'async' });
  expect((await reserve('A', items)).message).toBe('accepted');
  await simulator.idle();
  expect(received()).toEqual([['order:A:reserve', 'success']]);
});

describe('faults of callbacks', () => {
  test('a duplicate: same callback_id, new nonce', async () => {
    const { reserve, simulator } = await open({ duplicateRate: 1 });
    await reserve('A', items);
    await simulator.idle();
    const [first, second] = shop.seen;
    expect([shop.seen.length, second!.callback_id]).toEqual([2, first!.callback_id]);
    expect(second!.nonce).not.toBe(first!.nonce);
    expect(simulator.counters().callbacks).toMatchObject({ delivered: 1, duplicates: 1 });
  });

  test('a callback before the answer to the call', async () => {
    const order: string[] = [];
    onCallback = () => void order.push('callback');
    const { reserve } = await open({ earlyRate: 1, callbackDelayMs: 500, carryOut: 'later' });
    await reserve('A', items).then(() => order.push('answer'));
    expect([order, tested!.state('A')]).toEqual([['callback', 'answer'], 'reserved']);
  });

  test('a late callback', async () => {
    const { reserve, simulator } = await open({ lateRate: 1, lateMs: 60_000 });
    await reserve('A', items);
    expect([shop.seen.length, simulator.ledger().callbacks.length]).toEqual([0, 1]);
    simulator.change({ lateRate: 0 });
    await reserve('B', items);
    await expect.poll(received).toEqual([['order:B:reserve', 'success']]);
  });

  test('an action that is refused without reason is never done', async () => {
    const { reserve, simulator } = await open({ failedCallbackRate: 1 });
    await reserve('A', items);
    await simulator.idle();
    simulator.change({ failedCallbackRate: 0 });
    await reserve('A', items);
    await simulator.idle();
    expect([received().map(([, status]) => status), tested!.state('A')]).toEqual([['failed', 'failed'], undefined]);
  });

  test('a callback with status processing has its own callback_id', async () => {
    const { reserve, simulator } = await open({ processingFirstRate: 1, carryOut: 'later' });
    onCallback = ({ status }) => status === 'processing' && expect(tested!.state('A')).toBeUndefined();
    await reserve('A', items);
    await simulator.idle();
    expect(shop.seen.map(({ status }) => status)).toEqual(['processing', 'success']);
    expect(shop.seen[0]!.callback_id).not.toBe(shop.seen[1]!.callback_id);
  });

  test('a lost callback is sent when the action is delivered again', async () => {
    const { reserve, simulator } = await open({ lostCallbackRate: 1 });
    await reserve('A', items);
    await simulator.idle();
    expect([received(), tested!.state('A')]).toEqual([[], 'reserved']);
    expect(simulator.ledger().callbacks).toMatchObject([{ key: 'order:A:reserve', state: 'lost' }]);
    await reserve('A', items);
    await simulator.idle();
    expect([received(), simulator.ledger().callbacks]).toEqual([[['order:A:reserve', 'success']], []]);
    expect(simulator.counters().callbacks).toMatchObject({ lost: 1, delivered: 1 });
  });

  test('a failure code after the work is followed by the callback', async () => {
    const { reserve, simulator } = await open({ failRate: 1, failCodes: [5000], failAfter: 1 });
    expect((await reserve('A', items)).code).toBe(5000);
    await simulator.idle();
    expect(received()).toEqual([['order:A:reserve', 'success']]);
  });

  test('all faults together: each action gets one result, and the ledger agrees', async () => {
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
    const results = new Map<string, string>();
    onCallback = ({ request_id, status }) => {
      if (status === 'processing') return;
      expect(results.get(request_id) ?? status).toBe(status);
      results.set(request_id, status);
    };
    const settled = async (key: string, one: () => Promise<unknown>) => {
      while (!results.has(key)) {
        await one().catch(() => {});
        await simulator.idle();
      }
      return results.get(key) === 'success';
    };
    const expected = { reserved: 0, confirmed: 0 };
    const life = async (index: number) => {
      const no = `O${index}`;
      if (!(await settled(`order:${no}:reserve`, () => reserve(no, items)))) return;
      const isConfirmed = index % 3 === 0 && (await settled(`order:${no}:confirm`, () => confirm(no)));
      const isReleased = index % 3 === 1 && (await settled(`order:${no}:release`, () => release(no)));
      if (isConfirmed) expected.confirmed += 2;
      else if (!isReleased) expected.reserved += 2;
    };
    await Promise.all(Array.from({ length: 60 }, (_, index) => life(index)));
    await simulator.idle();
    const { on_hand, reserved } = tested!.sku(1)!;
    expect([on_hand, reserved]).toEqual([1_000 - expected.confirmed, expected.reserved]);
    expect(expected.confirmed).toBeGreaterThan(0);
  });
});
