import { addressesIn, type FileReferences } from '@tradepost/storage';

/** Files inside drafts and inside all publications that are kept: a rollback shows their pictures again. */
export const contentFiles: FileReferences = {
  name: 'content',
  referenced: (sql, addresses) =>
    addressesIn(
      sql,
      addresses,
      sql`
        select components from content.decor_variants
        union all select components from content.decor_publications`,
    ),
};
