import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../testing/oracle.ts';
import { SlidingLogs } from './sliding-logs.ts';

/** Queues in typed arrays, compared with plain lists, while keys appear, expire, share segments and are dropped. */
type Entry = { at: number; tokens: number };
const windowMs = 1_000;
const noSlot = -1;

const key = fc.oneof(
  fc.constantFrom(0, 1, 2, 3, 2 ** 31, 2 ** 32 + 1, 2 ** 33 + 7).map((id) => ({ id, space: null })),
  // Both name spaces contain the same names.
  fc.tuple(fc.constantFrom<0 | 1>(0, 1), fc.constantFrom('a', 'b', '__proto__')).map(([space, id]) => ({ id, space })),
);
const action = fc.record({
  key,
  move: fc.constantFrom(0, 0, 0, 0, 1, 2, 3, 50, 400, windowMs - 1, windowMs, windowMs + 1),
  times: fc.constantFrom(1, 1, 3, 20, 300),
  tokens: fc.constantFrom(0, 1, 5, 1_000, 2 ** 23, 2 ** 24 - 1, 2 ** 24, 2 ** 31 - 1),
  does: fc.constantFrom('charge', 'charge', 'charge', 'charge', 'drop', 'sweep', 'clear'),
});

test('sums and leaving times equal those of the list', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60, size: 'max' }), (actions) => {
      const logs = new SlidingLogs({ bytes: 4 * 2 ** 20, windowMs });
      const lists = new Map<string, Entry[]>();
      let now = 1_800_000_000_000;
      for (const { key: of, move, times, tokens, does } of actions) {
        now += move;
        const name = `${of.space} ${of.id}`;
        const find = () =>
          of.space === null ? logs.findId(of.id as number, now) : logs.findName(of.space, of.id as string, now);
        for (const [each, list] of lists) {
          const counting = list.filter(({ at }) => at + windowMs > now);
          if (counting.length > 0) lists.set(each, counting);
          else lists.delete(each);
        }
        if (does === 'sweep') {
          logs.sweep(now, 1_000);
          expect(logs.size).toBe(lists.size);
        } else if (does === 'clear') {
          logs.clear();
          lists.clear();
        } else if (does === 'drop') {
          const dropped = of.space === null ? logs.dropId(of.id as number) : logs.dropName(of.space, of.id as string);
          // A key that has expired but was not removed yet may be dropped too.
          if (lists.delete(name)) expect(dropped).toBe(true);
        } else {
          const list = lists.get(name) ?? [];
          lists.set(name, list);
          for (let i = 0; i < times; i += 1) {
            if (of.space === null) logs.chargeId(of.id as number, now, tokens);
            else logs.chargeName(of.space, of.id as string, now, tokens);
            list.push({ at: now, tokens });
            // This makes a long queue of many milliseconds.
            if (times === 20 && i < times - 1) now += 1;
          }
        }
        const list = (lists.get(name) ?? []).filter(({ at }) => at + windowMs > now);
        const slot = find();
        if (list.length === 0) {
          expect(slot).toBe(noSlot);
          continue;
        }
        const sum = list.reduce((total, entry) => total + entry.tokens, 0);
        expect([logs.requests(slot), logs.tokens(slot), logs.oldestLeaves(slot)]).toEqual([
          ...[list.length, sum, list[0]!.at + windowMs],
        ]);
        for (const count of [1, Math.ceil(list.length / 2), list.length])
          expect(logs.leavesAfterRequests(slot, count)).toBe(list[count - 1]!.at + windowMs);
        for (const enough of [1, Math.ceil(sum / 3), sum]) {
          if (enough < 1 || enough > sum) continue;
          let passed = 0;
          const last = list.find((entry) => {
            passed += entry.tokens;
            return passed >= enough;
          })!;
          expect(logs.leavesAfterTokens(slot, enough)).toBe(last.at + windowMs);
        }
      }
      expect(logs.evicted).toBe(0);
    }),
    runs(250),
  );
});

test('a sweep drops only expired keys, and at most the given number', () => {
  const logs = new SlidingLogs({ bytes: 2 ** 20, windowMs });
  for (let id = 0; id < 100; id += 1) logs.chargeId(id, 1_000 + id, 1);
  for (let i = 0; i < 50; i += 1) logs.chargeName(0, `name ${i}`, 1_100 + i, 1);
  expect(logs.sweep(1_999, 1_000)).toBe(0);
  expect(logs.sweep(2_049, 20)).toBe(20);
  expect(logs.sweep(2_049, 1_000)).toBe(30);
  expect(logs.size).toBe(100);
  expect(logs.sweep(2_149, 1_000)).toBe(100);
  expect(logs.size).toBe(0);
});

test('the memory of dropped keys is used again: nothing is lost over many windows', () => {
  const logs = new SlidingLogs({ bytes: 2 ** 20, windowMs });
  for (let round = 0; round < 200; round += 1) {
    const now = 1_000_000 + round * 2 * windowMs;
    for (let id = 0; id < 400; id += 1)
      for (let i = 0; i < 17; i += 1) logs.chargeId(round * 1_000 + id, now + i, 2 ** 24);
    if (round % 3 === 0) logs.sweep(now + 2 * windowMs, 1_000);
  }
  expect(logs.evicted).toBe(0);
});

test('a window that is larger than the distance field of an entry is refused', () => {
  expect(() => new SlidingLogs({ bytes: 1_000, windowMs: 65_536 })).toThrow(RangeError);
});
