import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { openCountedWarning, type Runtime } from '@tradepost/runtime';
import { type GatewayMetrics, gatewayMetrics } from '../gateway-metrics.ts';
import { closeStaleUsage, endUsage, insertUsage, type UsageEnd, type UsageRow } from './usage-store.ts';

/** The end of a request is written at most this long after it. */
const flushMs = 100;
const retryMs = 1_000;
const maxBatch = 500;
/** Ends that wait for the database. Beyond this the oldest are dropped. */
const maxWaiting = 50_000;
const closeDeadlineMs = 5_000;
/** For counting what cut-off streams have sent. A busy machine counts a long text in seconds. */
const idleDeadlineMs = 5_000;
const staleHours = 24;
const staleBatch = 5_000;

/** SQLSTATEs of a lock timeout and of a statement timeout. */
const timeouts = new Set(['55P03', '57014']);

/** The row of one request. */
export type UsageEntry = {
  readonly row: UsageRow;
  end: UsageEnd | null;
  /** Whether the insert of the row has been built. An end that arrives later is written by an update. */
  taken: boolean;
  /** Resolves when the row is committed. No byte of an answer is sent before. */
  committed: Promise<void>;
};

export type UsageLog = {
  open(row: UsageRow): UsageEntry;
  /** Records the end of a request. It is written later. */
  end(entry: UsageEntry, end: UsageEnd): void;
  /** Writes the ends that are left. */
  close(): Promise<void>;
};

/** Writes the ends of requests, many in one statement. */
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
    if (this.#waiting.length >= maxBatch && !this.#failed) void this.#flush();
    else this.#schedule();
  }

  /** Writes the ends that are left, in up to three attempts and until `late` resolves. */
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
    this.#timer = setTimeout(() => void this.#flush(), this.#failed ? retryMs : flushMs);
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
      const batch = waiting.splice(0, maxBatch);
      try {
        await endUsage(this.#sql, batch);
        this.#failed = false;
      } catch (error) {
        waiting.unshift(...batch);
        const lost = waiting.splice(0, Math.max(0, waiting.length - maxWaiting)).length;
        if (lost > 0) this.#lost.inc(lost);
        this.#warn({ err: error, waiting: waiting.length, lost });
        this.#failed = true;
        return;
      }
    }
  }
}

/** Opens the log of usage records. Rows of concurrent requests share a commit. */
export function openUsageLog(runtime: Pick<Runtime, 'sql' | 'groupCommit' | 'log' | 'metrics'>): UsageLog {
  const { sql } = runtime;
  const ends = new EndWriter(runtime);
  const inserting = new Set<Promise<void>>();
  /** Number of requests that have not ended. */
  let running = 0;
  /** Called when it becomes 0. */
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
      // After an error, group commit repeats the rows one by one. After a time-out (lock or overload) each would wait
      // again, so the error is returned instead of thrown.
      if (timeouts.has(String((error as { code?: unknown }).code))) return entries.map(() => error as Error);
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
      // A row that could not be inserted has no end.
      entry.committed.then(
        () => ends.add(entry.row.id, end),
        () => {},
      );
    },
    async close() {
      const late = sleep(closeDeadlineMs, undefined, { ref: false });
      // The usage of streams that were just cut off is still being counted.
      if (running > 0) {
        const idle = new Promise<void>((resolve) => {
          onIdle = resolve;
        });
        await Promise.race([idle, sleep(idleDeadlineMs, undefined, { ref: false })]);
      }
      // Ends of rows that are being committed are added after the commit.
      await Promise.race([Promise.allSettled([...inserting]).then(() => setImmediate()), late]);
      await ends.close(late);
    },
  };
}

export const closeStaleTask = 'gateway.close_stale_usage';

/** Closes rows that are open after a day. Their process has died. */
export async function closeStale({ sql, log }: Pick<Runtime, 'sql' | 'log'>): Promise<void> {
  let closed = 0;
  for (;;) {
    const batch = await closeStaleUsage(sql, staleHours, staleBatch);
    closed += batch;
    if (batch < staleBatch) break;
  }
  if (closed > 0) log.warn({ closed }, 'gateway requests whose process had ended were closed as failed');
}
