import { openLog, openMetrics, type Setting } from '@tradepost/runtime';
import {
  type Behaviour,
  json,
  type Received,
  raw,
  startWarehouseServer,
} from '@tradepost/testing/servers/warehouse-server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openExternalClient } from './protocol/client.ts';
import { externalMetrics } from './protocol/external-metrics.ts';
import { openSellable } from './sellable.ts';

// The tests move the deadlines; the network uses the real clock.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  vi.useRealTimers();
});

const idsOf = ({ body }: Received): number[] => JSON.parse(body.toString()).sku_ids;
const row = (sku_id: unknown, sellable_stock: unknown) => ({ sku_id, sellable_stock, reserved: 0, on_hand: 99 });
/** The stock of a SKU at the partner is ten times its id. */
const answering: Behaviour = (call, response) => {
  response.end(JSON.stringify({ code: 0, data: idsOf(call).map((id) => row(id, id * 10)) }));
};

async function open(behaviour: Behaviour = answering) {
  const partner = await startWarehouseServer(behaviour);
  const given: Record<string, unknown> = { 'external_wms.endpoint': partner.url, 'external_wms.timeout_ms': 60_000 };
  const settings = { get: <T>(of: Setting<T>): T => (of.key in given ? (given[of.key] as T) : of.fallback) };
  const logged: string[] = [];
  const log = openLog({ level: 'info', stream: { write: (line: string) => logged.push(JSON.parse(line).msg) } });
  const metrics = openMetrics();
  const client = openExternalClient({ settings: settings as never, log, metrics });
  closers.push(
    () => partner.close(),
    () => client.close(),
  );
  const clock = { ms: 1_000_000 };
  const { sellable } = openSellable({ client, log, now: () => clock.ms });
  /** The number of calls that have ended. */
  const ended = async () =>
    (await externalMetrics(metrics).calls.get()).values.reduce((sum, { value }) => sum + value, 0);
  return { partner, sellable, clock, logged, ended, asked: () => partner.calls.map(idsOf) };
}

/** A partner whose answers wait until the test sends them. */
function waitingPartner() {
  const answers: (() => void)[] = [];
  const behaviour: Behaviour = (call, response) => {
    answers.push(() => answering(call, response));
  };
  return { answers, behaviour };
}

const stocks = (...ids: number[]) => new Map(ids.map((id) => [id, id * 10]));
/** Waits for ten event-loop iterations. The network is awaited separately. */
const iterations = async () => {
  for (let i = 0; i < 10; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('calls', () => {
  test('pages at the same time share one call with each SKU once', async () => {
    const { sellable, asked } = await open();
    const pages = await Promise.all([sellable([1, 2, 2]), sellable([2, 3]), sellable([3])]);
    expect(pages).toEqual([stocks(1, 2), stocks(2, 3), stocks(3)]);
    expect(asked()).toEqual([[1, 2, 3]]);
  });

  test('a call has at most 100 SKUs', async () => {
    const { sellable, asked } = await open();
    const ids = Array.from({ length: 250 }, (_, index) => index + 1);
    expect(await sellable(ids)).toEqual(stocks(...ids));
    expect(
      asked()
        .map((call) => call.length)
        .sort((a, b) => a - b),
    ).toEqual([50, 100, 100]);
    expect(new Set(asked().flat()).size).toBe(250);
  });

  test('no SKUs make no call', async () => {
    const { sellable, asked } = await open();
    expect(await sellable([])).toEqual(new Map());
    expect(asked()).toEqual([]);
  });

  test('an answer is fresh for two seconds, for each SKU separately', async () => {
    const { sellable, asked, clock } = await open();
    await sellable([1, 2]);
    clock.ms += 1_000;
    expect(await sellable([2, 3])).toEqual(stocks(2, 3));
    clock.ms += 999;
    expect(await sellable([1, 2, 3])).toEqual(stocks(1, 2, 3));
    clock.ms += 1;
    expect(await sellable([1, 2, 3])).toEqual(stocks(1, 2, 3));
    expect(asked()).toEqual([[1, 2], [3], [1, 2]]);
  });

  test('a SKU that a running call asks for is not requested again', async () => {
    const { answers, behaviour } = waitingPartner();
    const { sellable, asked, partner } = await open(behaviour);
    const first = sellable([1, 2]);
    await partner.received(1);
    const second = sellable([2, 3]);
    await partner.received(2);
    expect(asked()).toEqual([[1, 2], [3]]);
    for (const answer of answers) answer();
    expect(await first).toEqual(stocks(1, 2));
    expect(await second).toEqual(stocks(2, 3));
  });

  test('at most four calls run at once, because orders need the connections', async () => {
    const { answers, behaviour } = waitingPartner();
    const { sellable, asked, partner } = await open(behaviour);
    const pages: Promise<unknown>[] = [];
    for (let id = 1; id <= 10; id += 1) {
      pages.push(sellable([id]));
      await iterations();
    }
    await partner.received(4);
    await iterations();
    expect(asked().sort()).toEqual([[1], [2], [3], [4]]);
    partner.behave = answering;
    for (const answer of answers) answer();
    expect(await Promise.all(pages)).toEqual(Array.from({ length: 10 }, (_, index) => stocks(index + 1)));
    expect(asked().slice(4)).toEqual([[5, 6, 7, 8, 9, 10]]);
  });

  test('the cache is bounded: the oldest answers are removed', async () => {
    const { sellable, asked, clock } = await open();
    const ids = Array.from({ length: 50_000 }, (_, index) => index + 1);
    for (let at = 0; at < ids.length; at += 5_000) await sellable(ids.slice(at, at + 5_000));
    clock.ms += 2_000;
    await sellable([1]);
    clock.ms -= 1;
    await sellable([50_001]);
    const calls = asked().length;
    await sellable([1, 3, 50_000, 50_001]);
    expect(asked()).toHaveLength(calls);
    await sellable([2]);
    expect(asked().slice(calls)).toEqual([[2]]);
  });
});

describe('the rows of an answer', () => {
  test.each<[string, unknown, Map<number, number> | null]>([
    ['in any order', [row(2, 20), row(1, 10)], stocks(1, 2)],
    ['of zero', [row(1, 0), row(2, 20)], new Map([[1, 0]]).set(2, 20)],
    ['below zero are sold out', [row(1, -3), row(2, 20)], new Map([[1, 0]]).set(2, 20)],
    ['not asked for are left out', [row(1, 10), row(7, 70)], stocks(1)],
    ['that are malformed are left out', [null, 5, 'x', [], {}, row('1', 10), row(1, '10'), row(2, 20)], stocks(2)],
    ['without a whole number are left out', [row(1, 1.5), row(2, null), { sku_id: 1, on_hand: 3 }], null],
    ['of an empty list', [], null],
  ])('%s', async (_name, data, known) => {
    const { sellable, asked } = await open(json({ code: 0, data }));
    expect(await sellable([1, 2])).toEqual(known);
    // A SKU that the partner does not know is cached too.
    expect(await sellable([1, 2])).toEqual(known);
    expect(asked()).toHaveLength(1);
  });

  test('the quantity of a SKU that the partner no longer knows is removed', async () => {
    const { sellable, partner, clock } = await open();
    await sellable([1, 2]);
    clock.ms += 2_000;
    partner.behave = json({ code: 0, data: [row(2, 5)] });
    expect(await sellable([1, 2])).toEqual(new Map([[2, 5]]));
  });
});

describe('a partner that fails', () => {
  const failing: [string, Behaviour][] = [
    ['busy', json({ code: 1001 })],
    ['refusing', json({ code: 4002 })],
    ['HTTP 500', json({ code: 0, data: [] }, 500)],
    ['a page', raw('<html>')],
    ['no rows', json({ code: 0, data: { sku_id: 1 } })],
    ['no data', json({ code: 0 })],
    ['closing', ({ socket }) => socket.destroy()],
  ];

  test.each(failing)(
    '%s: the circuit is open for five seconds, then a trial call closes it',
    async (_name, behaviour) => {
      const { sellable, partner, clock, logged } = await open(behaviour);
      expect(await sellable([1])).toBeNull();
      const calls = partner.calls.length;
      clock.ms += 4_999;
      expect(await sellable([1])).toBeNull();
      expect(await sellable([2])).toBeNull();
      expect(partner.calls).toHaveLength(calls);
      clock.ms += 1;
      expect(await sellable([1])).toBeNull();
      expect(partner.calls.length).toBeGreaterThan(calls);
      partner.behave = answering;
      clock.ms += 5_000;
      expect(await sellable([1])).toEqual(stocks(1));
      expect(await sellable([2])).toEqual(stocks(2));
      // One line per change of the circuit, not one per page.
      expect(logged).toEqual([
        'sellable stock comes from the cache or the stock column',
        'sellable stock comes from the external warehouse again',
      ]);
    },
  );

  test('does not get the calls that wait for a slot', async () => {
    const { answers, behaviour } = waitingPartner();
    const { sellable, asked, partner } = await open(behaviour);
    const pages: Promise<unknown>[] = [];
    for (let id = 1; id <= 5; id += 1) {
      pages.push(sellable([id]));
      await iterations();
    }
    await partner.received(4);
    partner.calls.find((call) => idsOf(call)[0] === 1)!.socket.destroy();
    expect(await pages[0]).toBeNull();
    expect(await pages[4]).toBeNull();
    for (const answer of answers) answer();
    expect(await Promise.all(pages.slice(1, 4))).toEqual([stocks(2), stocks(3), stocks(4)]);
    expect(asked()).toHaveLength(4);
  });

  test('is replaced by its answers of the last ten minutes', async () => {
    const { sellable, partner, clock } = await open();
    await sellable([1]);
    clock.ms += 1_000;
    await sellable([2]);
    partner.behave = json({ code: 5002 });
    clock.ms += 598_999;
    expect(await sellable([1, 2, 3])).toEqual(stocks(1, 2));
    expect(await sellable([3])).toBeNull();
    clock.ms += 1;
    expect(await sellable([1, 2, 3])).toEqual(stocks(2));
    clock.ms += 1_000;
    expect(await sellable([1, 2, 3])).toBeNull();
  });
});

describe('a partner that hangs', () => {
  test('delays one page by half a second, and the next pages not at all', async () => {
    const { answers, behaviour } = waitingPartner();
    const { sellable, asked, partner, clock } = await open(behaviour);
    const page = sellable([1]);
    let isShown = false;
    void page.then(() => (isShown = true));
    await partner.received(1);
    vi.advanceTimersByTime(499);
    await iterations();
    expect(isShown).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await page).toBeNull();
    expect(await sellable([1, 2])).toBeNull();
    expect(asked()).toEqual([[1]]);
    // The late answer is cached. It does not close the circuit, because the next page would wait for half a second again.
    answers[0]!();
    await expect.poll(() => sellable([1, 2])).toEqual(stocks(1));
    clock.ms += 4_999;
    expect(await sellable([1, 2])).toEqual(stocks(1));
    expect(asked()).toEqual([[1]]);
  });

  test('gets a trial call of one page, while the other pages do not wait', async () => {
    const { answers, behaviour } = waitingPartner();
    const { sellable, asked, partner, clock } = await open(behaviour);
    const first = sellable([1]);
    await partner.received(1);
    vi.advanceTimersByTime(500);
    expect(await first).toBeNull();
    clock.ms += 5_000;
    const trial = sellable([2]);
    expect(await sellable([3])).toBeNull();
    await partner.received(2);
    expect(await sellable([4])).toBeNull();
    answers[1]!();
    expect(await trial).toEqual(stocks(2));
    partner.behave = answering;
    expect(await sellable([3])).toEqual(stocks(3));
    expect(asked()).toEqual([[1], [2], [3]]);
  });

  test('releases the pages that wait for a slot, and their calls are not made', async () => {
    const { behaviour } = waitingPartner();
    const { sellable, asked, partner } = await open(behaviour);
    const pages: Promise<unknown>[] = [];
    for (let id = 1; id <= 6; id += 1) {
      pages.push(sellable([id]));
      await iterations();
    }
    await partner.received(4);
    vi.advanceTimersByTime(500);
    expect(await Promise.all(pages)).toEqual([null, null, null, null, null, null]);
    expect(asked()).toHaveLength(4);
  });

  test('has its connections closed after five seconds, so that a trial call is possible', async () => {
    const { behaviour } = waitingPartner();
    const { sellable, partner, clock } = await open(behaviour);
    const pages: Promise<unknown>[] = [];
    for (let id = 1; id <= 4; id += 1) {
      pages.push(sellable([id]));
      await iterations();
    }
    await partner.received(4);
    vi.advanceTimersByTime(5_000);
    await Promise.all(pages);
    await expect.poll(() => partner.calls.every(({ socket }) => socket.destroyed)).toBe(true);
    partner.behave = answering;
    clock.ms += 5_000;
    expect(await sellable([9])).toEqual(stocks(9));
  });

  test('and answers after a newer answer: the newer answer stays', async () => {
    const { answers, behaviour } = waitingPartner();
    const { sellable, partner, clock, ended } = await open(behaviour);
    const first = sellable([1]);
    await partner.received(1);
    vi.advanceTimersByTime(500);
    await first;
    clock.ms += 5_000;
    partner.behave = json({ code: 0, data: [row(1, 3)] });
    expect(await sellable([1])).toEqual(new Map([[1, 3]]));
    answers[0]!();
    await expect.poll(ended).toBe(2);
    await iterations();
    partner.behave = json({ code: 5002 });
    expect(await sellable([1])).toEqual(new Map([[1, 3]]));
  });
});
