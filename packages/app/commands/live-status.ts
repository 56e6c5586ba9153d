import { httpMetrics } from '@tradepost/http';
import { Box, render, Text, useInput } from 'ink';
import { createElement as h, useEffect, useState } from 'react';
import type { Server } from '../server.ts';

type Sample = { requests: number; refused: number; statements: number; jobs: number; at: number };

async function sample(server: Server): Promise<Sample> {
  const { metrics } = server.runtime;
  const { statements, jobs } = metrics;
  const { requests } = httpMetrics(metrics);
  const answered = (await requests.get()).values;
  const total = (rows: readonly { value: number }[]) => rows.reduce((sum, row) => sum + row.value, 0);
  return {
    requests: total(answered),
    refused: total(answered.filter((row) => row.labels.code !== '0')),
    statements: total((await statements.get()).values),
    jobs: total((await jobs.get()).values),
    at: performance.now(),
  };
}

const perSecond = (now: number, before: number, seconds: number) =>
  Math.round((now - before) / seconds).toLocaleString('en');

function uptime(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

function Status({ server, logFile, onQuit }: { server: Server; logFile: string; onQuit: () => void }) {
  const [pair, setPair] = useState<{ now: Sample; before: Sample } | null>(null);
  useEffect(() => {
    let last: Sample | null = null;
    const tick = async () => {
      const now = await sample(server);
      if (last) setPair({ now, before: last });
      last = now;
    };
    void tick();
    const timer = setInterval(() => void tick(), 1_000);
    return () => clearInterval(timer);
  }, [server]);
  // The terminal is in raw mode, so Ctrl-C arrives as a key and not as a signal.
  useInput((input, key) => {
    if (input === 'q' || (key.ctrl && input === 'c')) onQuit();
  });
  const seconds = pair ? (pair.now.at - pair.before.at) / 1000 : 1;
  const cell = (name: string, value: string) =>
    h(
      Box,
      { key: name, flexDirection: 'column', width: 14 },
      h(Text, { dimColor: true }, name),
      h(Text, { bold: true }, value),
    );
  const memory = `${Math.round(process.memoryUsage.rss() / 2 ** 20)} MB`;
  return h(
    Box,
    { flexDirection: 'column', borderStyle: 'round', borderColor: 'gray', paddingX: 1 },
    h(
      Box,
      null,
      cell('uptime', uptime(process.uptime())),
      cell('requests/s', pair ? perSecond(pair.now.requests, pair.before.requests, seconds) : '-'),
      cell('refused', pair ? pair.now.refused.toLocaleString('en') : '-'),
      cell('SQL/s', pair ? perSecond(pair.now.statements, pair.before.statements, seconds) : '-'),
      cell('jobs', pair ? pair.now.jobs.toLocaleString('en') : '-'),
      cell('memory', memory),
    ),
    h(Text, { dimColor: true }, `q or Ctrl-C stops · log: ${logFile}`),
  );
}

/** Shows figures that update every second below the summary. Needs a terminal. */
export function showLiveStatus(server: Server, options: { logFile: string; onQuit: () => void }): void {
  const quit = () => {
    view.unmount();
    options.onQuit();
  };
  const view = render(h(Status, { server, logFile: options.logFile, onQuit: quit }), { exitOnCtrlC: false });
}
