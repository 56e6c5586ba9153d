import { openLog, openMetrics, startWorker } from '@tradepost/runtime';

/** A worker process for tests. Its task `hang` claims a job, prints a line and never ends. */
const [url = '', concurrency = '1'] = process.argv.slice(2);
await startWorker({
  url,
  tasks: {
    hang: async (payload) => {
      process.stdout.write(`took ${(payload as { n: number }).n}\n`);
      await new Promise(() => {});
    },
  },
  crons: [],
  concurrency: Number(concurrency),
  log: openLog({ level: 'warn' }),
  metrics: openMetrics(),
  shutdownMs: 1_000,
});
process.stdout.write('ready\n');
