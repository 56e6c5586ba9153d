import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { openDatabase, type Sql } from '@tradepost/postgres';
import { newHistogram } from '../bench/histogram.ts';
import { emptyOutcome } from '../faults/scenario.ts';
import { startShoppers } from '../faults/shopper-load.ts';
import type { Buyer } from '../faults/test-shop.ts';
import type { ShopperAnswer } from '../faults/writes.ts';

type Begin = {
  id: number;
  url: string;
  databaseUrl: string;
  buyers: readonly Buyer[];
  skuIds: readonly number[];
};
export type Command = { begin: Begin } | { end: number };
export type LoadReport = { faults: string[]; purchases: number; requests: number; p99Ms: number; maxMs: number };
export type Reply = { id: number; report: LoadReport };

/** Faults to report one by one. */
const reportedFaults = 5;

function open({ url, databaseUrl, buyers, skuIds }: Begin): () => Promise<LoadReport> {
  const faults: string[] = [];
  let unnamed = 0;
  const fault = (text: string) => {
    if (faults.length < reportedFaults) faults.push(text);
    else unnamed += 1;
  };
  const latencies = newHistogram();
  let requests = 0;
  const onAnswer = (
    what: string,
    answer: Pick<ShopperAnswer, 'status' | 'code' | 'text' | 'retryAfter'> | null,
    ms: number,
  ) => {
    requests += 1;
    latencies.record(ms * 1000);
    if (!answer) fault(`${what} was not answered: the connection broke, or no answer came within 30 s`);
    else if (answer.status === 429 || answer.status === 503) {
      if (answer.retryAfter === null)
        fault(`${what}: ${answer.status} without Retry-After: ${answer.text.slice(0, 120)}`);
    } else if (answer.status !== 200 || answer.code !== 0)
      fault(`${what}: ${answer.status} ${answer.text.slice(0, 200)}`);
  };
  const crowd = startShoppers(() => Promise.resolve(url), buyers, skuIds, { pauseMs: 30, onAnswer });

  let ending = false;
  const read = async () => {
    while (!ending) {
      const begun = performance.now();
      const answer = await fetch(`${url}/api/v1/products?size=20`, { signal: AbortSignal.timeout(30_000) })
        .then(async (response) => {
          const text = await response.text();
          const { status, headers } = response;
          const code: number = status === 200 ? JSON.parse(text).code : -1;
          return { status, code, text, retryAfter: headers.get('retry-after') };
        })
        .catch(() => null);
      onAnswer('the product list', answer, performance.now() - begun);
      await sleep(50);
    }
  };
  const reading = read();

  return async () => {
    ending = true;
    await reading;
    const outcome = emptyOutcome();
    const sql: Sql = openDatabase(databaseUrl, { max: 1, name: 'ordinary load' });
    await crowd
      .finish()
      .then(() => crowd.verify(sql, outcome))
      .catch((error: Error) => fault(error.message));
    await sql.end({ timeout: 1 });
    if (crowd.confirmed() === 0) fault('no order was placed during the attack');
    if (unnamed > 0) faults.push(`${unnamed} more of these`);
    return {
      faults: [...faults, ...outcome.faults.slice(0, reportedFaults)],
      purchases: crowd.confirmed(),
      requests,
      p99Ms: latencies.quantile(0.99),
      maxMs: latencies.max(),
    };
  };
}

const running = new Map<number, () => Promise<LoadReport>>();
parentPort!.on('message', async (command: Command) => {
  if ('begin' in command) running.set(command.begin.id, open(command.begin));
  else {
    const report = await running.get(command.end)!();
    running.delete(command.end);
    parentPort!.postMessage({ id: command.end, report } satisfies Reply);
  }
});
