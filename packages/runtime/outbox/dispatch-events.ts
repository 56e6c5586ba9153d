import { lostConnection, type Transaction } from '@tradepost/postgres';
import { noRest, type Rest } from '../jobs/spare-cpu.ts';
import type { Runtime } from '../runtime.ts';
import type { EventReader, OutboxEvent } from './event-kind.ts';
import { lockDispatch, markDispatched, recordFailure, selectPendingEvents } from './outbox-store.ts';

/** The most events of one transaction. */
const batchEvents = 500;
/** An event that fails is tried again after 2, 4, 8 ... seconds, at most after an hour: for about nine hours. */
const maxAttempts = 20;

type Deps = {
  runtime: Pick<Runtime, 'sql' | 'now' | 'log'>;
  readers: readonly EventReader[];
};

const failureText = (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, 500);

/** Gives events to their readers and marks them, in one transaction. */
async function deliver(tx: Transaction, { runtime, readers }: Deps, events: readonly OutboxEvent[]): Promise<void> {
  for (const { kinds, read } of readers) {
    const own = kinds === null ? events : events.filter(({ name }) => kinds.includes(name));
    if (own.length > 0) await read(tx, own);
  }
  await markDispatched(
    tx,
    events.map(({ id }) => id),
    runtime.now(),
  );
}

/** One transaction for the next events. Null: another process dispatches. `limit` 1 isolates an event that fails. */
async function dispatchBatch(deps: Deps, limit: number): Promise<{ events: OutboxEvent[]; error: unknown } | null> {
  let events: OutboxEvent[] = [];
  try {
    return await deps.runtime.sql.begin(async (tx) => {
      if (!(await lockDispatch(tx))) return null;
      events = [...(await selectPendingEvents(tx, limit, deps.runtime.now()))];
      if (events.length > 0) await deliver(tx, deps, events);
      return { events, error: null };
    });
  } catch (error) {
    if (lostConnection(error) || events.length === 0) throw error;
    return { events, error };
  }
}

/** An event failed alone: it waits for another attempt, and the later events of its subject wait for it. */
async function recordAttempt({ runtime }: Deps, { id, name }: OutboxEvent, error: unknown): Promise<void> {
  const { sql, now, log } = runtime;
  const { failed } = await recordFailure(sql, { id, error: failureText(error), maxAttempts, now: now() });
  if (failed) log.error({ err: error, event: id, name }, 'an event has failed after its last attempt');
  else log.warn({ err: error, event: id, name }, 'an event could not be dispatched and is tried again');
}

/**
 * Dispatches waiting events to all readers, in batches, until none is left, another process does it, or `signal` aborts. Each
 * event is read exactly once. When a batch fails, its events are dispatched one by one. Returns the number of events.
 */
export async function dispatchEvents(deps: Deps, signal?: AbortSignal, rest: Rest = noRest): Promise<number> {
  let dispatched = 0;
  /** The number of events to dispatch one by one. */
  let alone = 0;
  while (!signal?.aborted) {
    const begun = performance.now();
    const batch = await dispatchBatch(deps, alone > 0 ? 1 : batchEvents);
    if (!batch) break;
    const { events, error } = batch;
    if (events.length === 0) break;
    if (error === null) {
      dispatched += events.length;
      alone = Math.max(0, alone - 1);
    } else if (events.length === 1) {
      await recordAttempt(deps, events[0]!, error);
      alone = Math.max(0, alone - 1);
    } else alone = events.length;
    if (signal) await rest(performance.now() - begun, signal);
  }
  return dispatched;
}
