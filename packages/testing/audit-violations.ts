import { audits } from '@tradepost/app';
import type { Sql } from '@tradepost/postgres';
import { runAudits } from '@tradepost/runtime';

/** About work left undone, not about wrong books: tests let orders run out, jobs fail and workers rest. */
const aboutWork = [
  'runtime.jobs_failed',
  'runtime.jobs_late',
  'orders.expired',
  'orders.refunds_forgotten',
  'orders.refunds_failed',
];
const books = audits.filter((audit) => !aboutWork.includes(audit.name));

/** What must hold in the database whatever happened: the product's own audits. Answers the rows that break it as lines. */
export async function auditViolations(sql: Sql): Promise<string[]> {
  const results = await runAudits(sql, books);
  return results.flatMap(({ name, about, rows, error }) =>
    error === null ? rows.map((row) => `${name} (${about}): ${JSON.stringify(row)}`) : [`${name}: ${error}`],
  );
}
