import type { AddressGuard } from '@tradepost/outbound-http';
import type { Runtime } from '@tradepost/runtime';
import { openSecrets } from '../endpoints/endpoint-secrets.ts';
import { selectTargets, type Target } from '../endpoints/endpoint-store.ts';
import { webhookConcurrency } from '../settings.ts';
import type { Claimed } from './delivery.ts';
import { type EndpointQueue, type OpenTarget, openEndpointQueue } from './endpoint-queue.ts';
import type { Outcomes } from './open-outcomes.ts';

/** Endpoints are read again after this time: a change of an endpoint takes effect then. */
const refreshMs = 500;

export type QueuesDeps = {
  readonly runtime: Pick<Runtime, 'sql' | 'secrets' | 'settings' | 'log' | 'now'>;
  readonly guard: AddressGuard;
  readonly outcomes: Outcomes;
  readonly clock: () => number;
  /** Aborts the requests. */
  readonly signal: AbortSignal;
};

/** The queues of all enabled endpoints. They live as long as the process, so that circuits and connections outlast a run. */
export function openEndpointQueues({ runtime, guard, outcomes, clock, signal }: QueuesDeps) {
  const { sql, secrets, settings, log, now } = runtime;
  const queues = new Map<number, EndpointQueue>();
  const unreadable = new Set<number>();
  let refreshedAt = Number.NEGATIVE_INFINITY;

  /** Without a readable secret an endpoint gets nothing. */
  function withSecrets(target: Target): OpenTarget[] {
    const { id, url } = target;
    try {
      const opened = openSecrets(secrets, target, now());
      unreadable.delete(id);
      return [{ id, url, secrets: opened }];
    } catch (error) {
      if (!unreadable.has(id))
        log.error({ err: error, endpoint: id }, 'the secret of a webhook endpoint is unreadable');
      unreadable.add(id);
      return [];
    }
  }

  return {
    /** Reads the endpoints again when it is time. */
    async refresh(): Promise<void> {
      if (performance.now() - refreshedAt < refreshMs) return;
      const targets = (await selectTargets(sql)).flatMap(withSecrets);
      refreshedAt = performance.now();
      const options = { guard, clock, concurrency: settings.get(webhookConcurrency), signal, done: outcomes.add };
      for (const target of targets) {
        const queue = queues.get(target.id);
        if (queue) queue.update(target, options.concurrency);
        else queues.set(target.id, openEndpointQueue(runtime, options, target));
      }
      for (const [id, queue] of queues) {
        if (targets.some((target) => target.id === id)) continue;
        outcomes.release(queue.giveUp(true));
        if (queue.running > 0) continue;
        queues.delete(id);
        await queue.close();
      }
    },
    /** Gives up claims that wait for a circuit or for too long, or all. */
    giveUp(all: boolean): void {
      for (const queue of queues.values()) outcomes.release(queue.giveUp(all));
    },
    /** The number of deliveries to claim for each endpoint. */
    free: (): Map<number, number> =>
      new Map([...queues].map(([id, queue]) => [id, queue.free()] as const).filter(([, number]) => number > 0)),
    add(claims: readonly Claimed[]): void {
      const byEndpoint = Map.groupBy(claims, ({ endpoint_id }) => endpoint_id);
      for (const [id, own] of byEndpoint) queues.get(id)!.add(own);
    },
    running: (): number => [...queues.values()].reduce((sum, queue) => sum + queue.running, 0),
    async close(): Promise<void> {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      queues.clear();
    },
  };
}
