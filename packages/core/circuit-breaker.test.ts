import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CircuitBreaker } from './circuit-breaker.ts';

const open = () => new CircuitBreaker({ failuresToOpen: 3, firstPauseMs: 1_000, longestPauseMs: 60_000 });

describe('the pause', () => {
  test('doubles with each failed trial up to the longest; a success resets it; one trial runs at a time', () => {
    const circuit = open();
    let now = 0;
    for (let i = 0; i < 3; i += 1) {
      expect(circuit.allows(now)).toBe(true);
      circuit.fail(now);
    }
    for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      expect(circuit.allows(now + pauseMs - 1)).toBe(false);
      now += pauseMs;
      expect(circuit.allows(now)).toBe(true);
      circuit.begin(now);
      expect(circuit.allows(now)).toBe(false);
      circuit.fail(now);
    }
    now += 60_000;
    circuit.begin(now);
    circuit.abandonTrial();
    expect(circuit.allows(now)).toBe(true);
    circuit.begin(now);
    circuit.succeed();
    expect([circuit.state(now), circuit.failures, circuit.pauseLeftMs(now)]).toEqual(['closed', 0, 0]);
    circuit.pause(now, 5_000);
    expect(circuit.allows(now + 4_999)).toBe(false);
    expect(circuit.allows(now + 5_000)).toBe(true);
    circuit.pause(now, 3_600_000);
    expect(circuit.allows(now + 60_000)).toBe(true);
  });

  test('when the other side asked for it, is followed by trials and growing pauses', () => {
    const circuit = open();
    circuit.pause(0, 1_000);
    expect(circuit.allows(999)).toBe(false);
    for (const [at, pauseMs] of [
      [1_000, 1_000],
      [2_000, 2_000],
      [4_000, 4_000],
    ] as const) {
      expect(circuit.allows(at)).toBe(true);
      circuit.begin(at);
      expect(circuit.allows(at)).toBe(false);
      circuit.fail(at);
      expect([circuit.state(at), circuit.pauseLeftMs(at)]).toEqual(['open', pauseMs]);
    }
    circuit.begin(8_000);
    circuit.succeed();
    expect([circuit.state(8_000), circuit.failures, circuit.pauseLeftMs(8_000)]).toEqual(['closed', 0, 0]);
  });
});

describe('the count of failures', () => {
  test('survives a call that answers and fails before its end', () => {
    const circuit = open();
    for (let i = 0; i < 3; i += 1) {
      expect(circuit.allows(0)).toBe(true);
      circuit.close();
      circuit.fail(0);
    }
    expect(circuit.allows(0)).toBe(false);
  });

  test('does not lengthen the pause when calls from before the opening fail', () => {
    const circuit = open();
    for (let i = 0; i < 8; i += 1) circuit.fail(0);
    expect(circuit.pauseLeftMs(0)).toBe(1_000);
    // The caller says that this call is not the trial. Its failure does not count after the pause either.
    circuit.fail(1_500, false);
    expect([circuit.state(1_500), circuit.allows(1_500)]).toEqual(['half-open', true]);
    expect([circuit.begin(1_500), circuit.succeed(), circuit.succeed()]).toEqual([true, true, false]);
  });
});

test('after any events, a circuit whose pause is over and that has no running trial allows a call', () => {
  const step = fc.record({
    afterMs: fc.oneof(fc.constant(0), fc.nat(3_000), fc.nat(90_000)),
    event: fc.constantFrom('pause', 'fail', 'succeed', 'close', 'begin', 'abandonTrial'),
    pauseMs: fc.nat(100_000),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const circuit = open();
      let now = 0;
      let trialRuns = false;
      for (const { afterMs, event, pauseMs } of steps) {
        now += afterMs;
        const state = circuit.state(now);
        expect(circuit.pauseLeftMs(now)).toBeLessThanOrEqual(60_000);
        if (state === 'closed') expect(circuit.allows(now)).toBe(true);
        if (state === 'open') expect(circuit.allows(now)).toBe(false);
        if (state === 'half-open') expect(circuit.allows(now)).toBe(!trialRuns);
        if (event === 'begin') {
          expect(circuit.begin(now)).toBe(state === 'half-open');
          trialRuns ||= state === 'half-open';
        } else {
          if (event === 'pause') circuit.pause(now, pauseMs);
          else if (event === 'fail') circuit.fail(now);
          else circuit[event]();
          trialRuns = false;
        }
        if (!trialRuns) expect(circuit.allows(now + 60_000)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});
