import { setTimeout as sleep } from 'node:timers/promises';
import { lostConnection } from '@tradepost/postgres';
import type { Runtime } from '../runtime.ts';
import type { RetentionRule } from './retention.ts';
import { deleteOldRows } from './retention-store.ts';

const batchRows = 5_000;
/** The pause between two batches, so that other statements can run. */
const pauseMs = 50;
/** The longest duration of a run. The next run continues. */
const budgetMs = 60_000;

/** The effective number of days. Null: the rows are kept for ever. */
export function daysInForce({ days }: RetentionRule, settings: Pick<Runtime['settings'], 'get'>): number | null {
  return typeof days === 'number' ? days : settings.get(days) || null;
}

export type Deleted = { rule: string; rows: number };

/**
 * Deletes old rows in batches of 5,000, until no old row is left or the time is over. When a rule fails, the others
 * still run, and the first error is thrown at the end. Returns the number of deleted rows for each rule that deleted
 * rows.
 */
export async function runRetention(
  { sql, settings, metrics, log }: Pick<Runtime, 'sql' | 'settings' | 'metrics' | 'log'>,
  rules: readonly RetentionRule[],
  stopping?: AbortSignal,
): Promise<Deleted[]> {
  const until = performance.now() + budgetMs;
  const isOver = () => stopping?.aborted === true || performance.now() > until;
  const deleted: Deleted[] = [];
  let failed: unknown = null;
  for (const rule of rules) {
    const days = daysInForce(rule, settings);
    if (days === null) continue;
    let rows = 0;
    try {
      for (let batch = batchRows; batch === batchRows && !isOver(); ) {
        batch = await deleteOldRows(sql, rule, days, batchRows);
        rows += batch;
        if (batch === batchRows) await sleep(pauseMs);
      }
    } catch (error) {
      failed ??= error;
      log.warn({ err: error, rule: rule.name }, 'old rows could not be deleted');
      if (lostConnection(error)) break;
    }
    if (rows === 0) continue;
    metrics.retentionRows.inc({ rule: rule.name }, rows);
    deleted.push({ rule: rule.name, rows });
  }
  if (deleted.length > 0) log.info({ deleted }, 'old rows were deleted');
  if (failed) throw failed;
  return deleted;
}
