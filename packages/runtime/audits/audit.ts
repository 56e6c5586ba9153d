import type { Queryable, Statement } from '@tradepost/postgres';

/** An invariant of the shop. Each module declares its audits, and `tradepost audit` runs them all. */
export type Audit = {
  /** The owning package and the compared facts: `orders.amounts`. */
  readonly name: string;
  /** The invariant in a sentence for operators. */
  readonly about: string;
  /** True when the rows are late or failed work, and not wrong data. Tests that stop workers and `backup verify` leave these audits out. */
  readonly pendingWork?: true;
  /**
   * Selects the rows that break the invariant. One select over whole tables (hash joins and aggregates, no subquery per
   * row), without limit and order: the run adds them. It may find a fault late, but it never reports a false one: the
   * rows of one transaction are visible together. Times are compared with `now`: the data can be older than the run, as in a
   * restored backup.
   */
  query(sql: Queryable, now: Statement): Statement;
};
