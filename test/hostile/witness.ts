import { setTimeout as sleep } from 'node:timers/promises';
import { newHistogram } from '../bench/histogram.ts';
import { openCrowd, type Told } from '../faults/shoppers.ts';
import type { Arena, Target } from './arena.ts';

export type Testimony = { faults: string[]; purchases: number; requests: number; p99Ms: number; maxMs: number };

/** Faults of one kind that are told one by one. */
const toldFaults = 5;

/**
 * Well-behaved shoppers on one server: they order, pay and cancel without end, repeat what is put off with the same
 * Idempotency-Key, and read the product list. Every answer must be right, or 429 or 503 with Retry-After.
 */
export function openWitness(arena: Arena, target: Target): { end(): Promise<Testimony> } {
  const faults: string[] = [];
  let unnamed = 0;
  const fault = (text: string) => {
    if (faults.length < toldFaults) faults.push(`the witness: ${text}`);
    else unnamed += 1;
  };
  const latencies = newHistogram();
  let requests = 0;
  const onAnswer = (what: string, told: Pick<Told, 'status' | 'code' | 'text' | 'retryAfter'> | null, ms: number) => {
    requests += 1;
    latencies.record(ms * 1000);
    if (!told) fault(`${what} was not answered: the connection broke or 30 s went by`);
    else if (told.status === 429 || told.status === 503) {
      if (told.retryAfter === null) fault(`${what}: ${told.status} without Retry-After: ${told.text.slice(0, 120)}`);
    } else if (told.status !== 200 || told.code !== 0) fault(`${what}: ${told.status} ${told.text.slice(0, 200)}`);
  };
  const crowd = openCrowd(() => Promise.resolve(target.api.url), target.buyers, arena.skuIds, {
    pauseMs: 30,
    onAnswer,
  });

  let ending = false;
  const read = async () => {
    while (!ending) {
      const begun = performance.now();
      const told = await fetch(`${target.api.url}/api/v1/products?size=20`, { signal: AbortSignal.timeout(30_000) })
        .then(async (response) => {
          const text = await response.text();
          const { status, headers } = response;
          return {
            status,
            code: status === 200 ? JSON.parse(text).code : -1,
            text,
            retryAfter: headers.get('retry-after'),
          };
        })
        .catch(() => null);
      onAnswer('the product list', told, performance.now() - begun);
      await sleep(50);
    }
  };
  const reading = read();

  return {
    async end() {
      ending = true;
      await reading;
      const outcome = { rounds: 0, requests: 0, confirmed: 0, refused: 0, auditMs: 0, faults: [] as string[] };
      await crowd
        .finish()
        .then(() => crowd.verify(arena.sql, outcome))
        .catch((error: Error) => fault(error.message));
      if (crowd.confirmed() === 0) fault('not one order was placed meanwhile');
      if (unnamed > 0) faults.push(`the witness: ${unnamed} more of these`);
      return {
        faults: [...faults, ...outcome.faults.slice(0, toldFaults).map((text) => `the witness: ${text}`)],
        purchases: crowd.confirmed(),
        requests,
        p99Ms: latencies.quantile(0.99),
        maxMs: latencies.max(),
      };
    },
  };
}
