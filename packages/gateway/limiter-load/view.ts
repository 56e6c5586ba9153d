import { dimensionName, dimensions } from '@tradepost/rate-limiter';
import { Box, render, Text, useInput } from 'ink';
import { createElement as h, useEffect, useState } from 'react';
import type { LoadRun } from './load-run.ts';
import { inMs } from './report.ts';

const refreshMs = 250;

type Sample = { at: number; admitted: number; refused: number[] };
const sampleOf = ({ tally }: LoadRun): Sample => ({
  at: performance.now(),
  admitted: tally.admitted,
  refused: dimensions.map((dimension) => tally.refusedBy[dimension]),
});

const number = (value: number) => value.toLocaleString('en');
const perSecond = (now: number, before: number, ms: number) =>
  `${number(Math.round(((now - before) * 1_000) / Math.max(ms, 1)))}/s`;
const clock = (ms: number) => {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};

const row = (name: string, text: string, colour?: string) =>
  h(
    Box,
    { key: name },
    h(Box, { width: 17 }, h(Text, { dimColor: true }, name)),
    h(Text, colour ? { color: colour, bold: true } : {}, text),
  );

function LoadView({ run, maxErrors, onQuit }: { run: LoadRun; maxErrors: number; onQuit: () => void }) {
  const [pair, setPair] = useState(() => {
    const now = sampleOf(run);
    return { now, before: now };
  });
  useEffect(() => {
    const timer = setInterval(() => setPair(({ now }) => ({ now: sampleOf(run), before: now })), refreshMs);
    return () => clearInterval(timer);
  }, [run]);
  // While the terminal is in raw mode, Ctrl-C arrives as a key.
  const onKey: Parameters<typeof useInput>[0] = (input, key) => {
    if (input === 'q' || (key.ctrl && input === 'c')) onQuit();
  };
  useInput(onKey, { isActive: process.stdin.isTTY === true });
  const { tally, pace, target } = run;
  const { now, before } = pair;
  const ms = now.at - before.at;
  const { p50, p99, max } = tally.latency.summary();
  const { overAdmissions, falseRefusals } = run.wrong();
  const refused = dimensions
    .map((dimension, i) => ({
      dimension,
      total: now.refused[i]!,
      rate: perSecond(now.refused[i]!, before.refused[i]!, ms),
    }))
    .filter(({ total }) => total > 0);
  const wrong = overAdmissions + falseRefusals;
  return h(
    Box,
    { flexDirection: 'column', borderStyle: 'round', borderColor: 'gray', paddingX: 1 },
    row(target, `${clock(pace.elapsedMs)} elapsed, ${clock(pace.remainingMs)} left`),
    row('admitted', `${perSecond(now.admitted, before.admitted, ms)}, ${number(tally.admitted)} in total`),
    refused.length === 0
      ? row('refused', '0')
      : refused.map(({ dimension, total, rate }) =>
          row(`refused ${dimensionName(dimension)}`, `${rate}, ${number(total)} in total`),
        ),
    row('latency', `p50 ${inMs(p50)}  p99 ${inMs(p99)}  max ${inMs(max)}`),
    row(
      'error budget',
      `errors ${number(tally.errors)} of ${number(maxErrors)}, unchecked ${number(tally.unchecked)}`,
      tally.errors > maxErrors ? 'red' : tally.errors + tally.unchecked > 0 ? 'yellow' : undefined,
    ),
    row(
      'exactness',
      wrong === 0
        ? 'no faults so far'
        : `${number(overAdmissions)} over-admissions, ${number(falseRefusals)} false refusals`,
      wrong === 0 ? 'green' : 'red',
    ),
    h(Text, { dimColor: true }, 'q or Ctrl-C stops and reports'),
  );
}

/** Shows the figures of a run on a terminal, refreshed four times a second. Returns the function that removes them. */
export function showLoad(
  run: LoadRun,
  { stdout = process.stdout, ...options }: { maxErrors: number; onQuit: () => void; stdout?: NodeJS.WriteStream },
): () => void {
  const view = render(h(LoadView, { run, ...options }), { stdout, exitOnCtrlC: false, patchConsole: false });
  return () => {
    view.clear();
    view.unmount();
  };
}
