import { defineRegistry } from '@tradepost/module';
import type { Queryable } from '@tradepost/postgres';

/** A number that another package adds to the profiles of shoppers. A field without an entry is 0. */
export type ProfileSection = {
  readonly field: 'points';
  /** One statement. */
  read(sql: Queryable, userId: number): Promise<number>;
};

export const profileSections = defineRegistry<ProfileSection>('identity.profile_sections');
