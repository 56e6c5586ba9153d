import type { Queryable } from './database.ts';

/**
 * An invariant of the shop: `find` answers the rows that break it, none when it holds. It runs on a live database in one
 * snapshot, takes no locks, and answers at most `limit` rows.
 */
export type Audit = {
  /** `orders.amounts`: the owning package and what is compared. */
  readonly name: string;
  /** What is wrong when rows come back, in words for an operator. */
  readonly about: string;
  find(sql: Queryable, limit: number): Promise<readonly Record<string, unknown>[]>;
};
