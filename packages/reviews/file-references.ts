import { addressesIn, type FileReferences } from '@tradepost/storage';

/** Pictures of reviews and of additions to them. */
export const reviewFiles: FileReferences = {
  name: 'reviews',
  referenced: (sql, addresses) =>
    addressesIn(
      sql,
      addresses,
      sql`
        select images::text from reviews.reviews where images <> '[]'
        union all select images::text from reviews.review_appends where images <> '[]'`,
    ),
};
