import { fork } from 'node:child_process';
import { join } from 'node:path';
import { defer } from '@tradepost/testing/processes/cleanup';
import type { OrderData, PromotedPurchaseData, PurchaseData, ReadData, ScenarioName } from './scenarios.ts';

export type LoadJob = {
  port: number;
  connections: number;
  /** Load before the measurement, for compilers, caches and connections. */
  warmupSeconds: number;
  seconds: number;
} & (
  | { scenario: 'reads'; data: ReadData }
  | { scenario: 'orders'; data: OrderData }
  | { scenario: 'purchases'; data: PurchaseData }
  | { scenario: 'promotedPurchases'; data: PromotedPurchaseData }
);

export type LoadResult = {
  /** Length of the measured window. All figures except `codes` and `failures` are of this window. */
  seconds: number;
  answers: number;
  /** Units of work. The scenario defines a unit. */
  units: number;
  perSecond: number;
  /** Milliseconds per unit. */
  p50: number;
  p99: number;
  max: number;
  /** Milliseconds per answer. */
  answerP50: number;
  answerP99: number;
  /** Answers by envelope code, including warm-up and last answers. The database must agree with these counts. */
  codes: Record<string, number>;
  failures: string[];
  /** CPU time of the generator itself. */
  cpuSeconds: number;
};

export type LoadEvent =
  | { event: 'measuring' }
  | { event: 'measured' }
  | { event: 'done'; result: LoadResult }
  | { event: 'failed'; reason: string };

/** Runs one load in its own process. Calls `onWindow` when the measured window begins and when it ends. */
export async function runLoad(job: LoadJob, onWindow: (edge: 'begin' | 'end') => void = () => {}): Promise<LoadResult> {
  const child = fork(join(import.meta.dirname, 'load-worker.ts'), { serialization: 'advanced' });
  const release = defer(async () => void child.kill());
  try {
    return await new Promise<LoadResult>((resolve, reject) => {
      const limit = setTimeout(
        () => reject(new Error('the load generator has not ended in time')),
        (job.warmupSeconds + job.seconds + 20) * 1000,
      );
      child.on('message', (message) => {
        const event = message as LoadEvent;
        if (event.event === 'measuring') onWindow('begin');
        else if (event.event === 'measured') onWindow('end');
        else if (event.event === 'failed') reject(new Error(`the load generator failed: ${event.reason}`));
        else resolve(event.result);
      });
      child.on('error', reject);
      child.on('exit', (code) => {
        clearTimeout(limit);
        reject(new Error(`the load generator ended with ${code}`));
      });
      child.send(job);
    });
  } finally {
    await release();
  }
}

/** Throws unless every answer has code 0. Otherwise the figures would include refusals. */
export function mustSucceed(result: LoadResult, scenario: ScenarioName): void {
  const refused = Object.entries(result.codes).filter(([code]) => code !== '0');
  if (refused.length > 0 || result.failures.length > 0)
    throw new Error(
      `${scenario}: not every call succeeded: ${JSON.stringify(result.codes)} ${result.failures.join('; ')}`,
    );
}
