import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openHealth } from './upstream-health.ts';

test('after a rest that the upstream asked for, a failed probe rests again and is followed by another', () => {
  const health = openHealth();
  health.limited(0, 1_000);
  expect(health.ready(999)).toBe(false);
  for (const [at, restMs] of [
    [1_000, 1_000],
    [2_000, 2_000],
    [4_000, 4_000],
  ] as const) {
    expect(health.ready(at)).toBe(true);
    health.asked(at);
    expect(health.ready(at)).toBe(false);
    health.failed(at);
    expect(health.state(at)).toMatchObject({ state: 'resting', restMs });
  }
  health.asked(8_000);
  health.succeeded();
  expect(health.state(8_000)).toEqual({ state: 'up', failures: 0, restMs: 0 });
});

test('whatever happens: an upstream whose rest is over and that has no probe under way is ready', () => {
  const step = fc.record({
    afterMs: fc.oneof(fc.constant(0), fc.nat(3_000), fc.nat(90_000)),
    event: fc.constantFrom('limited', 'failed', 'succeeded', 'answering', 'asked', 'unknown'),
    waitMs: fc.nat(100_000),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const health = openHealth();
      let now = 0;
      let probing = false;
      for (const { afterMs, event, waitMs } of steps) {
        now += afterMs;
        const { state, restMs } = health.state(now);
        expect(restMs).toBeLessThanOrEqual(60_000);
        if (state === 'up') expect(health.ready(now)).toBe(true);
        if (state === 'resting') expect(health.ready(now)).toBe(false);
        if (state === 'probing') expect(health.ready(now)).toBe(!probing);
        if (event === 'asked') {
          health.asked(now);
          probing ||= state === 'probing';
        } else {
          if (event === 'limited') health.limited(now, waitMs);
          else if (event === 'failed') health.failed(now);
          else health[event]();
          probing = false;
        }
        if (!probing) expect(health.ready(now + 60_000)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});
