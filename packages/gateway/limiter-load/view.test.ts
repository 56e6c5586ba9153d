import { Writable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import type { LoadRun } from './load-run.ts';
import { openPace } from './pace.ts';
import { progressLine } from './progress-line.ts';
import { countError, openTally } from './tally.ts';

// ink draws nothing before the end when CI is set. It reads the variable when it is imported.
process.env.CI = 'false';
process.env.CONTINUOUS_INTEGRATION = 'false';
const { showLoad } = await import('./view.ts');

/** A run with fixed figures. */
function openRun(): LoadRun {
  const tally = openTally();
  tally.admitted = 1_234;
  tally.refused = 56;
  tally.refusedBy.user_rpm = 50;
  tally.refusedBy.model_tpm = 6;
  tally.unchecked = 3;
  tally.latency.record(2.5);
  countError(tally, 'ECONNRESET');
  const pace = openPace({ durationMs: 30_000, rate: null, maxRequests: 1, signal: new AbortController().signal });
  const wrong = () => ({ overAdmissions: 2, falseRefusals: 0 });
  return { target: 'redis', tally, pace, wrong, done: new Promise(() => {}) };
}

test('the live view refreshes its figures and can be removed', async () => {
  let seen = '';
  const stdout = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        seen += String(chunk);
        done();
      },
    }),
    { isTTY: true, columns: 100, rows: 40 },
  ) as unknown as NodeJS.WriteStream;
  const run = openRun();
  const hide = showLoad(run, { maxErrors: 5, onQuit: () => {}, stdout });
  await vi.waitFor(() => expect(seen).toContain('1,234 in total'), { timeout: 5_000 });
  for (const text of ['refused user RPM', '50 in total', 'refused model TPM', 'errors 1 of 5, unchecked 3', '2.5 ms'])
    expect(seen).toContain(text);
  expect(seen).toContain('2 over-admissions');
  run.tally.admitted = 99_999;
  await vi.waitFor(() => expect(seen).toContain('99,999 in total'), { timeout: 5_000 });
  hide();
  const length = seen.length;
  run.tally.admitted = 111_111;
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(seen.slice(length)).not.toContain('111,111');
});

test('the progress line shows the same figures', () => {
  expect(progressLine(openRun())()).toMatch(
    /^0 s {2}admitted 1,234 \(.*\/s\) {2}refused 56 \(user RPM 50, model TPM 6\) {2}p99 2\.5 ms {2}unchecked 3 {2}errors 1 {2}over-admissions 2$/,
  );
});
