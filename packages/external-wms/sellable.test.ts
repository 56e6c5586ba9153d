import { openLog, openMetrics, type Setting } from '@tradepost/runtime';
import { type Behaviour, json, type Received, raw, startPartner } from '@tradepost/testing/servers/partner';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openExternalClient } from './protocol/client.ts';
import { externalMetrics } from './protocol/external-metrics.ts';
import { openSellable } from './sellable.ts';

// The deadlines of ours are moved by the tests; the network keeps the real clock.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  vi.useRealTimers();
});

const askedIn = ({ body }: Received): number[] => JSON.parse(body.toString()).sku_ids;
const row = (sku_id: unknown, sellable_stock: unknown) => ({ sku_id, sellable_stock, reserved: 0, on_hand: 99 });
/** What the partner has of a SKU: ten times its id. */
const honest: Behaviour = (call, response) => {
  response.end(JSON.stringify({ code: 0, data: askedIn(call).map((id) => row(id, id * 10)) }));
};

async function open(behaviour: Behaviour = honest) {
  const partner = await startPartner(behaviour);
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
  /** Calls whose end we know. */
  const ended = async () =>
    (await externalMetrics(metrics).calls.get()).values.reduce((sum, { value }) => sum + value, 0);
  return { partner, sellable, clock, logged, ended, asked: () => partner.calls.map(askedIn) };
}

/** A partner whose answers wait for the test. */
function held() {
  const answers: (() => void)[] = [];
  const behaviour: Behaviour = (call, response) => {
    answers.push(() => honest(call, response));
  };
  return { answers, behaviour };
}

const stocks = (...ids: number[]) => new Map(ids.map((id) => [id, id * 10]));
/** What of our own happens on its own; the network is waited for by name. */
const turns = async () => {
  for (let i = 0; i < 10; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('asking', () => {
  test('pages shown at once cost one call, each SKU named once', async () => {
    const { sellable, asked } = await open();
    const pages = await Promise.all([sellable([1, 2, 2]), sellable([2, 3]), sellable([3])]);
    expect(pages).toEqual([stocks(1, 2), stocks(2, 3), stocks(3)]);
    expect(asked()).toEqual([[1, 2, 3]]);
  });

  test('a call names at most 100', async () => {
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

  test('nothing asked is nothing sent', async () => {
    const { sellable, asked } = await open();
    expect(await sellable([])).toEqual(new Map());
    expect(asked()).toEqual([]);
  });

  test('an answer serves two seconds, for each SKU on its own', async () => {
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

  test('what is being asked is not asked again', async () => {
    const { answers, behaviour } = held();
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

  test('at most four calls run beside each other: orders need the connections', async () => {
    const { answers, behaviour } = held();
    const { sellable, asked, partner } = await open(behaviour);
    const pages: Promise<unknown>[] = [];
    for (let id = 1; id <= 10; id += 1) {
      pages.push(sellable([id]));
      await turns();
    }
    await partner.received(4);
    await turns();
    expect(asked().sort()).toEqual([[1], [2], [3], [4]]);
    partner.behave = honest;
    for (const answer of answers) answer();
    expect(await Promise.all(pages)).toEqual(Array.from({ length: 10 }, (_, index) => stocks(index + 1)));
    expect(asked().slice(4)).toEqual([[5, 6, 7, 8, 9, 10]]);
  });

  test('memory is bounded: what was told longest ago goes', async () => {
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
    ['that are none', [], null],
  ])('%s', async (_name, data, known) => {
    const { sellable, asked } = await open(json({ code: 0, data }));
    expect(await sellable([1, 2])).toEqual(known);
    // What the partner does not know is not asked with every page either.
    expect(await sellable([1, 2])).toEqual(known);
    expect(asked()).toHaveLength(1);
  });

  test('a SKU that the partner no longer knows is not remembered', async () => {
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

  test.each(failing)('%s: is left alone for five seconds, then tried, then used again', async (_name, behaviour) => {
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
    partner.behave = honest;
    clock.ms += 5_000;
    expect(await sellable([1])).toEqual(stocks(1));
    expect(await sellable([2])).toEqual(stocks(2));
    // Said once, not with every page.
    expect(logged).toEqual([
      'sellable stock comes from the cache or the stock column',
      'sellable stock comes from the external warehouse again',
    ]);
  });

  test('does not get what waits for its turn', async () => {
    const { answers, behaviour } = held();
    const { sellable, asked, partner } = await open(behaviour);
    const pages: Promise<unknown>[] = [];
    for (let id = 1; id <= 5; id += 1) {
      pages.push(sellable([id]));
      await turns();
    }
    await partner.received(4);
    partner.calls.find((call) => askedIn(call)[0] === 1)!.socket.destroy();
    expect(await pages[0]).toBeNull();
    expect(await pages[4]).toBeNull();
    for (const answer of answers) answer();
    expect(await Promise.all(pages.slice(1, 4))).toEqual([stocks(2), stocks(3), stocks(4)]);
    expect(asked()).toHaveLength(4);
  });

  test('is stood in for by what it said in the last ten minutes', async () => {
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
  test('holds a page for half a second, and the next ones not at all', async () => {
    const { answers, behaviour } = held();
    const { sellable, asked, partner, clock } = await open(behaviour);
    const page = sellable([1]);
    let shown = false;
    void page.then(() => (shown = true));
    await partner.received(1);
    vi.advanceTimersByTime(499);
    await turns();
    expect(shown).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await page).toBeNull();
    expect(await sellable([1, 2])).toBeNull();
    expect(asked()).toEqual([[1]]);
    // The late answer is not lost. It ends no rest: the next page would wait for half a second again.
    answers[0]!();
    await expect.poll(() => sellable([1, 2])).toEqual(stocks(1));
    clock.ms += 4_999;
    expect(await sellable([1, 2])).toEqual(stocks(1));
    expect(asked()).toEqual([[1]]);
  });

  test('is tried by one page, while the others do not wait', async () => {
    const { answers, behaviour } = held();
    const { sellable, asked, partner, clock } = await open(behaviour);
    const first = sellable([1]);
    await partner.received(1);
    vi.advanceTimersByTime(500);
    expect(await first).toBeNull();
    clock.ms += 5_000;
    const trying = sellable([2]);
    expect(await sellable([3])).toBeNull();
    await partner.received(2);
    expect(await sellable([4])).toBeNull();
    answers[1]!();
    expect(await trying).toEqual(stocks(2));
    partner.behave = honest;
    expect(await sellable([3])).toEqual(stocks(3));
    expect(asked()).toEqual([[1], [2], [3]]);
  });

  test('lets go those who wait for their turn, and their calls are not made', async () => {
    const { behaviour } = held();
    const { sellable, asked, partner } = await open(behaviour);
    const pages: Promise<unknown>[] = [];
    for (let id = 1; id <= 6; id += 1) {
      pages.push(sellable([id]));
      await turns();
    }
    await partner.received(4);
    vi.advanceTimersByTime(500);
    expect(await Promise.all(pages)).toEqual([null, null, null, null, null, null]);
    expect(asked()).toHaveLength(4);
  });

  test('gets its connections taken away after five seconds, so that it can be tried', async () => {
    const { behaviour } = held();
    const { sellable, partner, clock } = await open(behaviour);
    const pages: Promise<unknown>[] = [];
    for (let id = 1; id <= 4; id += 1) {
      pages.push(sellable([id]));
      await turns();
    }
    await partner.received(4);
    vi.advanceTimersByTime(5_000);
    await Promise.all(pages);
    await expect.poll(() => partner.calls.every(({ socket }) => socket.destroyed)).toBe(true);
    partner.behave = honest;
    clock.ms += 5_000;
    expect(await sellable([9])).toEqual(stocks(9));
  });

  test('and answers at last, after a newer answer: the newer one stands', async () => {
    const { answers, behaviour } = held();
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
    await turns();
    partner.behave = json({ code: 5002 });
    expect(await sellable([1])).toEqual(new Map([[1, 3]]));
  });
});
