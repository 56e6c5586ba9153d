import { describe, expect, test } from 'vitest';
import {
  AppError,
  allocate,
  defineErrors,
  instantInZone,
  isoInZone,
  isTimeZone,
  labelOf,
  maxMinor,
  negotiateLocale,
  paged,
  pagingOf,
  toMinor,
  toWire,
} from './index.ts';

/** mulberry32: the same cases in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('toMinor: a price of the back office becomes the cents that the shopper pays', () => {
  test.each([
    [0, 0],
    [12.9, 1290],
    [1.005, 101],
    [0.615, 62],
    [2.675, 268],
    [8.345, 835],
    [0.004, 0],
    [0.005, 1],
    [-1.005, -101],
    [-0.615, -62],
    [-0.004, 0],
    [-0, 0],
    [1e-7, 0],
    [-1e-7, 0],
    [0.1 + 0.2, 30],
    [99_999_999.99, maxMinor],
  ])('%d is %d cents', (amount, cents) => {
    expect(toMinor(amount)).toBe(cents);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 100_000_000, -100_000_000, 1e21, 1e308])(
    '%d is refused',
    (amount) => {
      expect(() => toMinor(amount)).toThrow(RangeError);
    },
  );

  test('an amount is the same after the conversion to the wire and back', () => {
    const random = seeded(1);
    for (let i = 0; i < 5_000; i += 1) {
      const cents = Math.floor(random() * (2 * maxMinor + 1)) - maxMinor;
      expect(toMinor(toWire(cents))).toBe(cents);
    }
    for (let cents = -2_000; cents <= 2_000; cents += 1) expect(toMinor(toWire(cents))).toBe(cents === 0 ? 0 : cents);
  });
});

describe('allocate: the shares of a discount add up to the discount', () => {
  test('shares are whole cents, add up exactly, and differ from the exact share by less than one cent', () => {
    const random = seeded(42);
    for (let round = 0; round < 4_000; round += 1) {
      const scale = 10 ** (1 + Math.floor(random() * 9));
      const total = Math.floor(random() * scale);
      const weights = Array.from({ length: 1 + Math.floor(random() * 12) }, () =>
        random() < 0.2 ? 0 : Math.floor(random() * scale),
      );
      const shares = allocate(total, weights);
      const context = JSON.stringify({ total, weights, shares });
      const sum = weights.reduce((a, b) => a + b, 0);
      if (shares.reduce((a, b) => a + b, 0) !== total) expect.fail(`sum: ${context}`);
      if (!shares.every((share) => Number.isSafeInteger(share) && share >= 0)) expect.fail(`not cents: ${context}`);
      if (sum === 0) continue;
      weights.forEach((weight, i) => {
        // |share * sum - total * weight| < sum, in exact arithmetic.
        const off = BigInt(shares[i]!) * BigInt(sum) - BigInt(total) * BigInt(weight);
        if (off >= BigInt(sum) || -off >= BigInt(sum)) expect.fail(`line ${i}: ${context}`);
        if (weight === 0 && shares[i] !== 0) expect.fail(`a free line got a share: ${context}`);
      });
      // A discount no larger than the goods never makes a line negative.
      if (total <= sum && !shares.every((share, i) => share <= weights[i]!)) expect.fail(`above its line: ${context}`);
    }
  });

  test('products above 2^53 are exact', () => {
    expect(allocate(maxMinor, [maxMinor, maxMinor, maxMinor])).toEqual([3_333_333_333, 3_333_333_333, 3_333_333_333]);
    expect(allocate(maxMinor, [maxMinor - 1, 1])).toEqual([maxMinor - 1, 1]);
    expect(allocate(maxMinor - 1, [maxMinor, maxMinor - 1])).toEqual([4_999_999_999, 4_999_999_999]);
  });

  test('a remaining cent goes to the largest remainder, and to the earlier line on a tie', () => {
    expect(allocate(100, [1, 1, 1])).toEqual([34, 33, 33]);
    expect(allocate(10, [1, 2])).toEqual([3, 7]);
  });

  test('lines with price 0, and an empty list', () => {
    expect(allocate(50, [0, 0])).toEqual([50, 0]);
    expect(allocate(50, [0, 10, 0])).toEqual([0, 50, 0]);
    expect(allocate(0, [0, 0])).toEqual([0, 0]);
    expect(allocate(0, [])).toEqual([]);
    expect(() => allocate(1, [])).toThrow(RangeError);
  });
});

describe('paging: a client that sends invalid values gets the documented page', () => {
  test.each([
    [{}, { page: 1, size: 20, offset: 0 }],
    [
      { page: 3, size: 10 },
      { page: 3, size: 10, offset: 20 },
    ],
    [{ page: 0 }, { page: 1, size: 20, offset: 0 }],
    [{ page: -5 }, { page: 1, size: 20, offset: 0 }],
    [{ page: 2.9 }, { page: 2, size: 20, offset: 20 }],
    [{ size: 0 }, { page: 1, size: 20, offset: 0 }],
    [{ size: -1 }, { page: 1, size: 20, offset: 0 }],
    [{ size: 1 }, { page: 1, size: 1, offset: 0 }],
    [{ size: 100 }, { page: 1, size: 100, offset: 0 }],
    [{ size: 101 }, { page: 1, size: 20, offset: 0 }],
    [{ size: 1e12 }, { page: 1, size: 20, offset: 0 }],
  ])('%j', (query, expected) => {
    expect(pagingOf(query)).toEqual(expected);
  });

  test('a list with its own cap uses its own default', () => {
    expect(pagingOf({ size: 51 }, { cap: 50, size: 10 }).size).toBe(10);
    expect(pagingOf({ size: 50 }, { cap: 50, size: 10 }).size).toBe(50);
  });

  test('a huge page number gives an offset that SQL accepts', () => {
    const { offset } = pagingOf({ page: Number.MAX_VALUE, size: 100 });
    expect(Number.isSafeInteger(offset)).toBe(true);
  });

  test('an answer has the page and size that were used', () => {
    expect(paged(['a'], 41, pagingOf({ page: 0, size: 999 }))).toEqual({ list: ['a'], total: 41, page: 1, size: 20 });
  });
});

describe('locale: the shopper gets messages in the requested language', () => {
  test.each([
    ['en', 'zh-CN', 'en'],
    ['zh', 'en', 'zh-CN'],
    ['zh-CN', null, 'zh-CN'],
    ['ZH-hans', null, 'zh-CN'],
    ['en-GB', 'zh', 'en'],
    // An unknown ?lang= leaves the decision to the header.
    ['fr', 'en', 'en'],
    ['', 'en', 'en'],
    [null, 'en-US,en;q=0.9,zh;q=0.8', 'en'],
    [null, 'fr, zh;q=0.3, en;q=0.7', 'en'],
    [null, 'en;q=0.1,zh-TW;q=0.2', 'zh-CN'],
    [null, 'en;q=0, zh;q=0.1', 'zh-CN'],
    [null, ' en ; q=0.5 ', 'en'],
    [null, '*', 'zh-CN'],
    [null, '*;q=0.5', 'zh-CN'],
    [null, 'fr,*;q=0.1', 'zh-CN'],
    [null, 'en;q=0', 'zh-CN'],
    [null, 'en;q=abc', 'zh-CN'],
    [null, ';;;,,,=q;\u0000', 'zh-CN'],
    [null, 'english', 'zh-CN'],
    [null, '', 'zh-CN'],
    [undefined, undefined, 'zh-CN'],
  ])('lang %j with Accept-Language %j is %s', (lang, header, expected) => {
    expect(negotiateLocale(lang, header, 'zh-CN')).toBe(expected);
  });

  test('only the beginning of a header with a hundred thousand entries is read', () => {
    expect(negotiateLocale(null, `en,${'zh;q=0.9,'.repeat(100_000)}`, 'zh-CN')).toBe('en');
    expect(negotiateLocale(null, `${'x'.repeat(1_000_000)},en`, 'zh-CN')).toBe('zh-CN');
  });

  test('a label in the language, or the value itself when it has no label', () => {
    const labels = { 1: { en: 'Paid', 'zh-CN': '已支付' } };
    expect(labelOf(labels, 1, 'zh-CN')).toBe('已支付');
    expect(labelOf(labels, 9, 'en')).toBe('9');
    expect(labelOf(labels, 'constructor', 'en')).toBe('constructor');
  });
});

describe('isoInZone: timestamps on the wire are in the time zone of the shop', () => {
  test.each([
    ['2026-03-01T01:30:00.999Z', 'Asia/Shanghai', '2026-03-01T09:30:00+08:00'],
    ['2026-12-31T16:00:00Z', 'Asia/Shanghai', '2027-01-01T00:00:00+08:00'],
    ['2026-03-01T01:30:00Z', 'UTC', '2026-03-01T01:30:00+00:00'],
    ['2026-03-01T01:30:00Z', 'Asia/Kolkata', '2026-03-01T07:00:00+05:30'],
    ['2026-03-01T01:30:00Z', 'Asia/Kathmandu', '2026-03-01T07:15:00+05:45'],
    ['2026-03-01T01:30:00Z', 'America/St_Johns', '2026-02-28T22:00:00-03:30'],
    // New York, spring 2026: 02:00 becomes 03:00 at 07:00 UTC.
    ['2026-03-08T06:59:59Z', 'America/New_York', '2026-03-08T01:59:59-05:00'],
    ['2026-03-08T07:00:00Z', 'America/New_York', '2026-03-08T03:00:00-04:00'],
    // Autumn: 02:00 becomes 01:00 at 06:00 UTC, the same hour twice with different offsets.
    ['2026-11-01T05:59:59Z', 'America/New_York', '2026-11-01T01:59:59-04:00'],
    ['2026-11-01T06:00:00Z', 'America/New_York', '2026-11-01T01:00:00-05:00'],
  ])('%s in %s is %s', (at, zone, expected) => {
    expect(isoInZone(new Date(at), zone)).toBe(expected);
    expect(Date.parse(expected)).toBe(Math.floor(Date.parse(at) / 1000) * 1000);
  });

  test('the text has the right instant all year, also with cached offsets', () => {
    const random = seeded(7);
    const zones = ['Asia/Shanghai', 'America/New_York', 'Australia/Lord_Howe', 'Europe/London', 'Pacific/Chatham'];
    for (let i = 0; i < 4_000; i += 1) {
      const at = new Date(Date.UTC(2026, 0, 1) + Math.floor(random() * 365 * 86_400) * 1000);
      const zone = zones[i % zones.length]!;
      const text = isoInZone(at, zone);
      if (Date.parse(text) !== at.getTime()) expect.fail(`${at.toISOString()} in ${zone} became ${text}`);
    }
  });

  test('an unknown time zone is recognized', () => {
    expect(isTimeZone('Asia/Shanghai')).toBe(true);
    expect(isTimeZone('Mars/Olympus')).toBe(false);
    expect(isTimeZone('')).toBe(false);
  });
});

describe('a refusal', () => {
  const errors = defineErrors({
    out_of_stock: { code: 3001, en: '{title}: only {left} left', 'zh-CN': '{title} 仅剩 {left} 件' },
    gone: { code: 404, status: 404, en: 'Not here', 'zh-CN': '不存在' },
  });

  test('has a code, a status and a message in both languages', () => {
    const error = errors.out_of_stock({ title: 'Mug $& {left}', left: 2 });
    expect(error).toBeInstanceOf(AppError);
    expect([error.refusalName, error.code, error.status]).toEqual(['out_of_stock', 3001, 200]);
    expect(error.message).toBe('Mug $& {left}: only 2 left');
    expect(error.messageIn('zh-CN')).toBe('Mug $& {left} 仅剩 2 件');
    expect(errors.gone().status).toBe(404);
  });

  test('a missing value leaves its placeholder in the message', () => {
    expect(errors.out_of_stock({ title: 'Mug' }).message).toBe('Mug: only {left} left');
    expect(errors.out_of_stock().messageIn('en')).toBe('{title}: only {left} left');
  });

  test('is a new error at each call', () => {
    expect(errors.gone()).not.toBe(errors.gone());
  });

  test('has the row of its factory, so that a route can list factories', () => {
    expect(errors.gone.refusalName).toBe('gone');
    expect(errors.gone.refusal).toBe(errors.gone().refusal);
    expect(errors.gone.refusal).toMatchObject({ code: 404, status: 404, en: 'Not here' });
  });
});

describe('instantInZone: the times that clients send', () => {
  const zone = 'Asia/Shanghai';
  test.each([
    ['2026-03-01', 'start', '2026-02-28T16:00:00.000Z'],
    ['2026-03-01', 'end', '2026-03-01T15:59:59.999Z'],
    ['2026-03-01T09:30:00', 'start', '2026-03-01T01:30:00.000Z'],
    ['2026-03-01 09:30:00', 'end', '2026-03-01T01:30:00.999Z'],
    ['2026-03-01 09:30', 'end', '2026-03-01T01:30:59.999Z'],
    ['2026-03-01T09:30:00.250', 'end', '2026-03-01T01:30:00.250Z'],
    ['2026-03-01T09:30:00Z', 'end', '2026-03-01T09:30:00.000Z'],
    ['2026-03-01T09:30:00+02:00', 'start', '2026-03-01T07:30:00.000Z'],
  ] as const)('%s as %s', (text, edge, expected) => {
    expect(instantInZone(text, zone, edge)?.toISOString()).toBe(expected);
  });

  test('a day has 23 or 25 hours where a clock change falls into it', () => {
    const hours = (day: string) =>
      (instantInZone(day, 'Europe/Berlin', 'end')!.getTime() -
        instantInZone(day, 'Europe/Berlin', 'start')!.getTime()) /
      3_600_000;
    expect([hours('2026-03-29'), hours('2026-10-25'), hours('2026-06-01')].map(Math.round)).toEqual([23, 25, 24]);
  });

  test.each([
    '0000-01-01',
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59:59-14:00',
    '',
    'yesterday',
    '2026-02-30',
    '2026-13-01',
    '2026-03-01T25:00:00',
    '1',
    '2026-03-01T',
    '0x10',
  ])('%s is no time', (text) => {
    expect(instantInZone(text, zone, 'start')).toBeNull();
  });
});
