import { audits } from '@tradepost/app';
import type { Sql } from '@tradepost/postgres';
import { runAudits } from '@tradepost/runtime';

const dataAudits = audits.filter((audit) => !audit.pendingWork);

/**
 * The rows that break an audit of the product, one line each. Empty when the data is right. Audits of pending work are left
 * out: tests let orders expire, let jobs fail and stop workers.
 */
export async function auditViolations(sql: Sql): Promise<string[]> {
  const results = await runAudits(sql, dataAudits);
  return results.flatMap(({ name, about, rows, error }) =>
    error === null ? rows.map((row) => `${name} (${about}): ${JSON.stringify(row)}`) : [`${name}: ${error}`],
  );
}
