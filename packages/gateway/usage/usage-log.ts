import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { openCountedWarning, type Runtime } from '@tradepost/runtime';
import { type GatewayMetrics, gatewayMetrics } from '../gateway-metrics.ts';
import { closeStaleUsage, endUsage, insertUsage, type UsageEnd, type UsageRow } from './usage-store.ts';

/** An end is written at most this much later. */
const endsAfterMs = 100;
/** After a failure. */
const againAfterMs = 1_000;
const mostEndsAtOnce = 500;
/** Ends that wait for a database that does not answer; beyond it the oldest are given up. */
const mostEndsWaiting = 50_000;
const closeWithinMs = 5_000;
const endsWithinMs = 1_000;
const staleHours = 24;
const staleAtOnce = 5_000;

/** SQLSTATEs of a lock and of a statement that took too long. */
const heldUp = new Set(['55P03', '57014']);

/** The row of one request. */
export type UsageEntry = {
  readonly row: UsageRow;
  end: UsageEnd | null;
  /** Its insert has been put together, with the end that was known by then. */
  taken: boolean;
  /** Resolves when the row is committed: no byte of an answer goes out before. */
  committed: Promise<void>;
};

export type UsageLog = {
  open(row: UsageRow): UsageEntry;
  /** Written behind; not waited for. */
  end(entry: UsageEntry, end: UsageEnd): void;
  /** Writes what is left. */
  close(): Promise<void>;
};

/** Writes ends behind the requests, many in one statement. */
class EndWriter {
  readonly #sql: Runtime['sql'];
  readonly #log: Runtime['log'];
  readonly #lost: GatewayMetrics['usageLost'];
  readonly #warn: ReturnType<typeof openCountedWarning>;
  readonly #waiting: { id: string; end: UsageEnd }[] = [];
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #failed = false;

  constructor({ sql, log, metrics }: Pick<Runtime, 'sql' | 'log' | 'metrics'>) {
    this.#sql = sql;
    this.#log = log;
    this.#lost = gatewayMetrics(metrics).usageLost;
    this.#warn = openCountedWarning(log, 'the ends of gateway requests could not be written');
  }

  add(id: string, end: UsageEnd): void {
    this.#waiting.push({ id, end });
    if (this.#waiting.length >= mostEndsAtOnce && !this.#failed) void this.#flush();
    else this.#schedule();
  }

  /** Writes what is left, in three attempts until `late` resolves. */
  async close(late: Promise<unknown>): Promise<void> {
    for (let tries = 0; this.#waiting.length > 0 && tries < 3; tries += 1) await Promise.race([this.#flush(), late]);
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const lost = this.#waiting.length;
    if (lost === 0) return;
    this.#lost.inc(lost);
    this.#log.warn({ lost }, 'the ends of gateway requests were not written before the process ended');
  }

  #schedule(): void {
    if (this.#timer || this.#writing || this.#waiting.length === 0) return;
    this.#timer = setTimeout(() => void this.#flush(), this.#failed ? againAfterMs : endsAfterMs);
    this.#timer.unref();
  }

  #flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
      this.#schedule();
    });
    return this.#writing;
  }

  async #write(): Promise<void> {
    const waiting = this.#waiting;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, mostEndsAtOnce);
      try {
        await endUsage(this.#sql, batch);
        this.#failed = false;
      } catch (error) {
        waiting.unshift(...batch);
        const lost = waiting.splice(0, Math.max(0, waiting.length - mostEndsWaiting)).length;
        if (lost > 0) this.#lost.inc(lost);
        this.#warn({ err: error, waiting: waiting.length, lost });
        this.#failed = true;
        return;
      }
    }
  }
}

/** The books of the gateway: rows of concurrent requests share their commits. */
export function openUsageLog(runtime: Pick<Runtime, 'sql' | 'groupCommit' | 'log' | 'metrics'>): UsageLog {
  const { sql } = runtime;
  const ends = new EndWriter(runtime);
  const inserting = new Set<Promise<void>>();
  /** Requests that have not ended, and what to tell whoever waits for that. */
  let running = 0;
  let onIdle: (() => void) | null = null;

  const insert = runtime.groupCommit<UsageEntry, true>('gateway_usage', async (entries) => {
    const inserts = entries.map((entry) => {
      entry.taken = true;
      return { row: entry.row, end: entry.end };
    });
    try {
      await insertUsage(sql, inserts);
      return entries.map(() => true as const);
    } catch (error) {
      // Held up by a lock or an overload: one by one they would wait all the longer, each for itself.
      if (heldUp.has(String((error as { code?: unknown }).code))) return entries.map(() => error as Error);
      throw error;
    }
  });

  return {
    open(row) {
      const entry: UsageEntry = { row, end: null, taken: false, committed: Promise.resolve() };
      running += 1;
      const committed = insert(entry).then(() => {});
      entry.committed = committed;
      inserting.add(committed);
      const settled = () => inserting.delete(committed);
      committed.then(settled, settled);
      return entry;
    },
    end(entry, end) {
      if (entry.end) return;
      entry.end = end;
      running -= 1;
      if (running === 0) onIdle?.();
      if (!entry.taken) return;
      // A row that never came into being has no end, either.
      entry.committed.then(
        () => ends.add(entry.row.id, end),
        () => {},
      );
    },
    async close() {
      const late = sleep(closeWithinMs, undefined, { ref: false });
      // Streams that were cut off just now are still being counted.
      if (running > 0) {
        const idle = new Promise<void>((resolve) => {
          onIdle = resolve;
        });
        await Promise.race([idle, sleep(endsWithinMs, undefined, { ref: false })]);
      }
      // Ends whose insert is being committed come a moment later.
      await Promise.race([Promise.allSettled([...inserting]).then(() => setImmediate()), late]);
      await ends.close(late);
    },
  };
}

export const closeStaleTask = 'gateway.close_stale_usage';

/** A row that is open after a day belongs to a process that has died. */
export async function closeStale({ sql, log }: Pick<Runtime, 'sql' | 'log'>): Promise<void> {
  let closed = 0;
  for (;;) {
    const some = await closeStaleUsage(sql, staleHours, staleAtOnce);
    closed += some;
    if (some < staleAtOnce) break;
  }
  if (closed > 0) log.warn({ closed }, 'gateway requests whose process had ended were closed as failed');
}
