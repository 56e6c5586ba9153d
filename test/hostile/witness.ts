import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { defer } from '@tradepost/testing/processes/cleanup';
import type { Buyer } from '../faults/test-shop.ts';
import type { Order, Said, Testimony } from './witness-worker.ts';

let worker: Worker | null = null;
let lastId = 0;

function theWorker(): Worker {
  if (worker) return worker;
  const opened = new Worker(join(import.meta.dirname, 'witness-worker.ts'));
  worker = opened;
  defer(async () => {
    worker = null;
    await opened.terminate();
  });
  return opened;
}

/**
 * Well-behaved shoppers on one server: they order, pay and cancel without end, repeat what is put off with the same
 * Idempotency-Key, and read the product list. Every answer must be right, or 429 or 503 with Retry-After. They run on a
 * thread of their own, so that the work of the attackers does not look like time that the server takes.
 */
export function openWitness(
  arena: { databaseUrl: string; skuIds: readonly number[] },
  target: { api: { url: string }; buyers: readonly Buyer[] },
): { end(): Promise<Testimony> } {
  const { databaseUrl, skuIds } = arena;
  const at = theWorker();
  lastId += 1;
  const id = lastId;
  const post = (order: Order) => at.postMessage(order);
  post({ begin: { id, url: target.api.url, databaseUrl, buyers: target.buyers, skuIds } });
  return {
    end: () =>
      new Promise((resolve, reject) => {
        const heard = ({ id: of, testimony }: Said) => {
          if (of !== id) return;
          at.off('message', heard);
          at.off('error', reject);
          resolve({ ...testimony, faults: testimony.faults.map((text) => `the witness: ${text}`) });
        };
        at.on('message', heard);
        at.on('error', reject);
        post({ end: id });
      }),
  };
}
