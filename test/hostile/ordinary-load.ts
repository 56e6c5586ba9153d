import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { defer } from '@tradepost/testing/processes/cleanup';
import type { Buyer } from '../faults/test-shop.ts';
import type { Command, LoadReport, Reply } from './ordinary-load-worker.ts';

let worker: Worker | null = null;
let lastId = 0;

function loadWorker(): Worker {
  if (worker) return worker;
  const opened = new Worker(join(import.meta.dirname, 'ordinary-load-worker.ts'));
  worker = opened;
  defer(async () => {
    worker = null;
    await opened.terminate();
  });
  return opened;
}

/**
 * Starts ordinary shoppers on one server. They order, pay, cancel and read the product list. They repeat a write that was
 * refused for now with the same Idempotency-Key. Every answer must be correct, or 429 or 503 with Retry-After. They run on
 * their own thread, so that the work of the attacker does not add to the measured times.
 */
export function startOrdinaryLoad(
  servers: { databaseUrl: string; skuIds: readonly number[] },
  target: { api: { url: string }; buyers: readonly Buyer[] },
): { end(): Promise<LoadReport> } {
  const { databaseUrl, skuIds } = servers;
  const at = loadWorker();
  lastId += 1;
  const id = lastId;
  const post = (command: Command) => at.postMessage(command);
  post({ begin: { id, url: target.api.url, databaseUrl, buyers: target.buyers, skuIds } });
  return {
    end: () =>
      new Promise((resolve, reject) => {
        const onReply = ({ id: of, report }: Reply) => {
          if (of !== id) return;
          at.off('message', onReply);
          at.off('error', reject);
          resolve({ ...report, faults: report.faults.map((text) => `ordinary load: ${text}`) });
        };
        at.on('message', onReply);
        at.on('error', reject);
        post({ end: id });
      }),
  };
}
