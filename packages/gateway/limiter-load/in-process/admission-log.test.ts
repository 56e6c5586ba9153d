import type { Limits } from '@tradepost/rate-limiter';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openAdmissionLog } from './admission-log.ts';

const none: Limits = {
  ...{ user_rpm: 0, user_tpm: 0, token_rpm: 0, token_tpm: 0 },
  ...{ ip_rpm: 0, model_rpm: 0, model_tpm: 0 },
};
const open = (limits: Partial<Limits>, options: { windowMs?: number; maxRecords?: number } = {}) =>
  openAdmissionLog({ limits: { ...none, ...limits }, counts: [3, 6, 2, 2], windowMs: 10, graceMs: 5, ...options });
const keys = [0, 0, 0, 0];
const end = Number.POSITIVE_INFINITY;

test('over-admissions are those that a search of every window finds', () => {
  const event = fc.record({
    step: fc.integer({ min: 0, max: 6 }),
    user: fc.integer({ min: 0, max: 2 }),
    model: fc.integer({ min: 0, max: 1 }),
    cost: fc.integer({ min: 0, max: 20 }),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 120 }), fc.integer({ min: 1, max: 4 }), (events, user_rpm) => {
      const log = open({ user_rpm, model_tpm: 40 });
      const before: { at: number; user: number; model: number; cost: number }[] = [];
      let at = 1_000;
      let wrong = 0;
      for (const { step, ...entry } of events) {
        at += step;
        before.push({ at, ...entry });
        const counts = before.filter((one) => one.at > at - 10);
        const requests = counts.filter(({ user }) => user === entry.user).length;
        const tokens = counts.filter(({ model }) => model === entry.model).reduce((sum, { cost }) => sum + cost, 0);
        if (requests > user_rpm || tokens > 40) wrong += 1;
        log.admitted(at, [entry.user, 0, 0, entry.model], 0, entry.cost);
      }
      expect(log.overAdmissions).toBe(wrong);
    }),
  );
});

test('a refusal is wrong only when it had room beside all charges of its millisecond', () => {
  const log = open({ user_rpm: 2 });
  log.admitted(1_000, keys, 0, 1);
  // The second charge of this millisecond arrives after the refusal that it caused.
  log.refused(1_000, 1_000, keys, 0, 1, 0);
  log.admitted(1_000, keys, 0, 1);
  log.judgeDue(end);
  expect(log.falseRefusals).toBe(0);
  log.refused(1_009, 1_009, keys, 0, 1, 0);
  log.judgeDue(end);
  expect(log.falseRefusals).toBe(0);
  log.refused(1_010, 1_010, keys, 0, 1, 0);
  log.judgeDue(end);
  expect(log.falseRefusals).toBe(1);
});

test('a refusal with an uncertain time is wrong only when it had room during the whole range', () => {
  const log = open({ user_rpm: 1 });
  log.admitted(1_000, keys, 0, 1);
  log.admitted(1_000, [1, 0, 0, 0], 0, 1);
  log.refused(1_008, end, keys, 0, 1, 0);
  log.admitted(1_015, [1, 0, 0, 0], 0, 1);
  log.judgeDue(end);
  expect(log.falseRefusals).toBe(0);
  log.refused(2_020, end, keys, 0, 1, 0);
  log.judgeDue(end);
  expect(log.falseRefusals).toBe(1);
});

test('after a lost verdict no refusal is judged for a window', () => {
  const log = open({ user_rpm: 2 });
  log.admitted(1_000, keys, 0, 1);
  log.verdictLost();
  // The time is uncertain, and no other verdict has arrived.
  log.refused(1_002, end, keys, 0, 1, 0);
  log.judgeDue(end);
  expect(log).toMatchObject({ falseRefusals: 0, unsureRefusals: 1 });
  log.refused(1_003, 1_003, keys, 0, 1, 0);
  log.judgeDue(end);
  expect(log).toMatchObject({ falseRefusals: 0, unsureRefusals: 2 });
  log.refused(1_030, 1_030, keys, 0, 1, 0);
  log.judgeDue(end);
  expect(log).toMatchObject({ falseRefusals: 1, unsureRefusals: 2 });
  // A suspended store charges late, at the latest before its next verdict.
  log.verdictLost();
  log.admitted(2_000, [1, 0, 0, 0], 0, 1);
  log.refused(2_008, 2_008, keys, 0, 1, 0);
  log.judgeDue(end);
  expect(log).toMatchObject({ falseRefusals: 1, unsureRefusals: 3 });
});

test('admissions may arrive out of order; a clock that goes back restarts the log', () => {
  const log = open({ user_rpm: 2 });
  log.admitted(1_000, keys, 0, 1);
  log.admitted(1_008, [1, 0, 0, 0], 0, 1);
  log.admitted(1_004, keys, 0, 1);
  expect(log.overAdmissions).toBe(0);
  log.admitted(1_009, keys, 0, 1);
  expect(log.overAdmissions).toBe(1);
  log.admitted(1_014, keys, 0, 1);
  expect(log.overAdmissions).toBe(1);
  log.admitted(500, keys, 0, 1);
  log.admitted(500, keys, 0, 1);
  expect(log.overAdmissions).toBe(1);
  log.refused(505, 505, [2, 0, 0, 0], 0, 1, 0);
  log.judgeDue(end);
  expect(log).toMatchObject({ falseRefusals: 0, unsureRefusals: 1 });
});

test('memory is bounded: expired records are dropped, and a log without room is full', () => {
  const log = open({ user_rpm: 5_000 }, { windowMs: 1_000, maxRecords: 4_096 });
  // Two a millisecond. The records that are kept after their window would exceed the bound.
  for (let i = 0; i < 40_000; i += 1) log.admitted(i >> 1, keys, 0, 1);
  expect(log).toMatchObject({ full: false, overAdmissions: 0 });
  for (let i = 0; i < 4_096; i += 1) log.admitted(20_000, keys, 0, 1);
  expect(log.full).toBe(true);
});
