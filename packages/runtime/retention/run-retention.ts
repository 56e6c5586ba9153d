import { setTimeout as sleep } from 'node:timers/promises';
import { lostConnection } from '@tradepost/postgres';
import type { Runtime } from '../runtime.ts';
import type { RetentionRule } from './retention.ts';
import { deleteOldRows } from './retention-store.ts';

const batchRows = 5_000;
/** Between two batches others get the database. */
const restMs = 50;
/** What a run may take; the next one goes on. */
const budgetMs = 60_000;

/** The days in force; null: the rows are kept for ever. */
export function daysInForce({ days }: RetentionRule, settings: Pick<Runtime['settings'], 'get'>): number | null {
  return typeof days === 'number' ? days : settings.get(days) || null;
}

export type Deleted = { rule: string; rows: number };

/**
 * Deletes what is too old, in batches of 5,000 rows, until nothing is left or the time is over. A rule that fails does not hold
 * up the others: the first error is thrown at the end. Answers what was deleted, rules without a row left out.
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
        if (batch === batchRows) await sleep(restMs);
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
