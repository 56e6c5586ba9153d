import type { Sql } from '@tradepost/postgres';
import type { Log } from '@tradepost/runtime';
import { writeLastUsed } from './api-token-store.ts';

const flushMs = 5_000;
/** `last_used_at` of a token is written at most this often. */
export const lastUseIntervalMs = 60_000;

/** Collects the times when tokens were last used, and writes them every five seconds. */
export function openLastUses(sql: Sql, log: Log) {
  const uses = new Map<number, number>();

  async function flush(): Promise<void> {
    if (uses.size === 0) return;
    const rows = [...uses].map(([id, at]) => ({ id, at: new Date(at) }));
    uses.clear();
    await writeLastUsed(sql, rows, lastUseIntervalMs / 1000 - 10).catch((error: unknown) => {
      for (const { id, at } of rows) if (!uses.has(id)) uses.set(id, at.getTime());
      throw error;
    });
  }

  const timer = setInterval(() => {
    flush().catch((error: unknown) => log.warn({ err: error }, 'the last use of API tokens could not be written'));
  }, flushMs);
  timer.unref();

  return {
    note(id: number, at: number): void {
      uses.set(id, at);
    },
    flush,
    stop: (): void => clearInterval(timer),
  };
}
