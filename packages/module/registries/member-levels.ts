import type { Queryable } from '@tradepost/postgres';
import { defineRegistry } from '../registry.ts';

/** What the package that owns memberships offers to others. */
export type MemberLevels = {
  /** The level id of each of these shoppers whose membership is active. Others are absent. One statement. */
  levelsOf(sql: Queryable, userIds: readonly number[], now: Date): Promise<ReadonlyMap<number, number>>;
  /**
   * The active members with this level and an id above `after`, at most `limit`, by id. One statement.
   */
  membersWith(
    sql: Queryable,
    of: { levelId: number; after: number; limit: number; now: Date },
  ): Promise<readonly number[]>;
};

/** Empty when no package with memberships runs: then no shopper is a member. */
export const memberLevels = defineRegistry<MemberLevels>('module.member_levels');
