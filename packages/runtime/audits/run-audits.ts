import type { Sql, Transaction } from '@tradepost/postgres';
import type { Audit } from './audit.ts';

export type AuditResult = {
  name: string;
  about: string;
  /** The number of rows that break the invariant. `rows` has the first of them. */
  total: number;
  rows: Record<string, unknown>[];
  ms: number;
  /** The message when the query failed: nothing is known about the invariant. */
  error: string | null;
};

export const auditPassed = (result: AuditResult): boolean => result.total === 0 && result.error === null;

type AuditOptions = {
  /** The number of rows that a result has. */
  readonly limit?: number;
  /** The time of the data, to which lateness is compared. Default: now. */
  readonly at?: Date;
};

type Counted = Record<string, unknown> & { audit_total: number };

async function runAudit(tx: Transaction, audit: Audit, { limit = 20, at }: AuditOptions): Promise<AuditResult> {
  const begun = performance.now();
  const result = (found: Partial<AuditResult>): AuditResult => ({
    ...{ name: audit.name, about: audit.about, total: 0, rows: [], error: null },
    ...found,
    ms: Math.round(performance.now() - begun),
  });
  try {
    // A savepoint: when one query fails, the other audits still run.
    const found = await tx.savepoint(
      (point) => point<Counted[]>`
        select broken.*, count(*) over () as audit_total
        from (${audit.query(point, at ? point`${at}::timestamptz` : point`now()`)}) as broken limit ${limit}`,
    );
    const rows = found.map(({ audit_total: _total, ...row }) => row);
    return result({ total: found[0]?.audit_total ?? 0, rows });
  } catch (error) {
    // Without a connection the other audits cannot run either.
    if ((error as Error).name !== 'PostgresError') throw error;
    return result({ error: (error as Error).message });
  }
}

/**
 * Runs the audits one after the other in one read-only transaction, so they share a snapshot: concurrent orders cannot
 * look broken, and no transaction waits for a lock. It works on a read replica too. The snapshot delays vacuum while it
 * lasts.
 */
export async function runAudits(
  sql: Sql,
  audits: readonly Audit[],
  options: AuditOptions & { onStart?: (audit: Audit) => void; onResult?: (result: AuditResult) => void } = {},
): Promise<AuditResult[]> {
  const results: AuditResult[] = [];
  await sql.begin('isolation level repeatable read read only', async (tx) => {
    // Whole tables are hashed. With the default of 4 MB every join would use temporary files.
    await tx`
      select set_config('statement_timeout', '15min', true), set_config('lock_timeout', '30s', true),
             set_config('work_mem', '64MB', true), set_config('jit', 'off', true)`;
    for (const audit of audits) {
      options.onStart?.(audit);
      const result = await runAudit(tx, audit, options);
      options.onResult?.(result);
      results.push(result);
    }
  });
  return results;
}
