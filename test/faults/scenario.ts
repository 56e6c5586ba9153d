import { audits } from '@tradepost/app';
import type { Sql } from '@tradepost/postgres';
import { runAudits } from '@tradepost/runtime';
import type { Outcome as Result, Scenario as Run } from '@tradepost/testing/processes/scenario-cli';

export type { Environment } from '@tradepost/testing/processes/scenario-cli';

export type Outcome = Result & {
  rounds: number;
  requests: number;
  confirmed: number;
  refused: number;
  auditMs: number;
};

export type Scenario = Run<Outcome>;

export const emptyOutcome = (): Outcome => ({
  rounds: 0,
  requests: 0,
  confirmed: 0,
  refused: 0,
  auditMs: 0,
  faults: [],
});

/** Audits of unfinished work, for scenarios that leave expired orders and open refunds on purpose. */
export const withoutWorker: readonly string[] = ['orders.expired', 'orders.refunds_forgotten', 'runtime.jobs_late'];

/** Runs every audit of the shop except those in `except`, and records broken rows as faults. */
export async function audit(
  sql: Sql,
  outcome: Pick<Outcome, 'auditMs' | 'faults'>,
  except: readonly string[] = [],
): Promise<void> {
  const begun = performance.now();
  const results = await runAudits(
    sql,
    audits.filter(({ name }) => !except.includes(name)),
  );
  outcome.auditMs += Math.round(performance.now() - begun);
  for (const { name, about, rows, error } of results) {
    if (error !== null) outcome.faults.push(`${name}: ${error}`);
    for (const row of rows) outcome.faults.push(`${name} (${about}): ${JSON.stringify(row)}`);
  }
}

export function check(outcome: Pick<Outcome, 'faults'>, what: string, found: unknown, wanted: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) outcome.faults.push(`${what}: ${a} instead of ${b}`);
}

/** Counts answers by code. A 5xx is counted under its HTTP status. */
export function tally(answers: readonly { status: number; code: number }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, code } of answers) {
    const key = status < 500 ? String(code) : `HTTP ${status}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
