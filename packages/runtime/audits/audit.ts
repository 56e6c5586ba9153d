import type { Queryable, Statement } from '@tradepost/postgres';

/** An invariant of the shop. Each package exports its list; the program has them all in one (`audits` of the command line). */
export type Audit = {
  /** `orders.amounts`: the owning package and what is compared. */
  readonly name: string;
  /** What must hold, in words for an operator. */
  readonly about: string;
  /** True: the rows are work that is late or failed, and no wrong data. Tests that stop work on purpose leave these audits out. */
  readonly pendingWork?: true;
  /**
   * The rows that break it, none when it holds: one select over whole tables (hash joins and aggregates, no subquery per
   * row), without a limit or an order, which the run adds. It may be late, never wrong: rows of one transaction are seen
   * together.
   */
  query(sql: Queryable): Statement;
};
