import { addressesIn, type FileReferences } from '@tradepost/storage';

/** Pictures of products and categories, also those inside the detail pages of products and their translations. */
export const catalogFiles: FileReferences = {
  name: 'catalog',
  referenced: (sql, addresses) =>
    addressesIn(
      sql,
      addresses,
      sql`
        select cover from catalog.products
        union all select detail::text from catalog.products
        union all select translations::text from catalog.products
        union all select spec_schema::text from catalog.products
        union all select attrs::text from catalog.product_skus
        union all select url from catalog.product_images
        union all select icon from catalog.categories
        union all select attrs::text from catalog.spec_templates`,
    ),
};
