import { addressesIn, type FileReferences } from '@tradepost/storage';

/** Pictures of products, also of products that were deleted after an exchange. */
export const mallFiles: FileReferences = {
  name: 'points-mall',
  referenced: (sql, addresses) =>
    addressesIn(
      sql,
      addresses,
      sql`
        select concat_ws(' ', cover, images::text, description) from points_mall.products
        union all select distinct product_cover from points_mall.exchanges where product_cover <> ''`,
    ),
};
