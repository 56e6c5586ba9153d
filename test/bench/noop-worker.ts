/** A worker with an empty task. Usage: `node noop-worker.ts <database url> <concurrency>`. It ends on SIGTERM. */
import { openLog, openMetrics, startWorker } from '@tradepost/runtime';

const [url = '', concurrency = ''] = process.argv.slice(2);
const worker = await startWorker({
  ...{ url, concurrency: Number(concurrency), tasks: { 'bench.noop': async () => {} }, crons: [] },
  ...{ log: openLog({ level: 'warn' }), metrics: openMetrics(), shutdownMs: 5_000 },
});
process.once('SIGTERM', () => void worker.stop().then(() => process.exit(0)));
