import { setTimeout as sleep } from 'node:timers/promises';
import type { AddressGuard } from '@tradepost/outbound-http';
import type { Rest, Runtime } from '@tradepost/runtime';
import { claimDeliveries } from './delivery-store.ts';
import { openEndpointQueues } from './endpoint-queues.ts';
import { openOutcomes } from './open-outcomes.ts';

/** The pause between two looks for due deliveries while requests run. */
const pollMs = 250;
/** Outcomes of this time are written together: a transaction for each of them would slow down the orders. */
const collectMs = 25;
/** About the CPU time of a request, with its share of the statements. */
const requestMs = 1;
/** Requests that run when the process stops have this time to end. */
const graceMs = 5_000;

export type SenderDeps = {
  readonly runtime: Pick<Runtime, 'sql' | 'secrets' | 'settings' | 'metrics' | 'log' | 'now'>;
  readonly guard: AddressGuard;
  /** The clock of the circuits. Tests replace it. */
  readonly clock?: () => number;
};

/** Sends due deliveries. `run` returns when nothing is due. */
export function openSender({ runtime, guard, clock = () => performance.now() }: SenderDeps) {
  const closing = new AbortController();
  const outcomes = openOutcomes(runtime);
  const queues = openEndpointQueues({ runtime, guard, outcomes, clock, signal: closing.signal });

  async function claim(): Promise<number> {
    const free = queues.free();
    if (free.size === 0) return 0;
    const claims = await claimDeliveries(runtime.sql, free, runtime.now());
    queues.add(claims);
    return claims.length;
  }

  /** Lets running requests end for a while, and gives everything else to other workers. */
  async function stop(): Promise<void> {
    queues.giveUp(true);
    const timer = setTimeout(() => closing.abort(), graceMs);
    try {
      while (queues.running() > 0) {
        await outcomes.next(pollMs);
        await outcomes.store();
      }
      await outcomes.store();
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async run(stopping: AbortSignal, rest: Rest): Promise<void> {
      while (!stopping.aborted) {
        await queues.refresh();
        queues.giveUp(false);
        await outcomes.store();
        const claimed = await claim();
        if (claimed === 0 && queues.running() === 0 && outcomes.pending === 0) return;
        await outcomes.next(pollMs);
        await sleep(collectMs);
        await rest(claimed * requestMs, stopping);
      }
      await stop();
    },
    async close(): Promise<void> {
      closing.abort();
      await queues.close();
    },
  };
}
