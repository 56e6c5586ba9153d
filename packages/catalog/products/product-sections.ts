import { defineRegistry } from '@tradepost/module';

/** The fields of the product page that other packages fill. Without the package the field is absent. */
export type ProductAdditions = {
  review_summary?: { avg_product_score: number; avg_logistics_score: number; total: number };
};

/**
 * A field that one package adds to the product page. It is an expression in the statement that reads the product: the
 * page is the most frequent request of a shop, and a further statement would cost more than the field.
 */
export type ProductSection = {
  readonly field: keyof ProductAdditions;
  /** SQL for the value as jsonb, for the product `p`, by an index on the product id. */
  readonly expression: string;
};

export const productSections = defineRegistry<ProductSection>('catalog.product_sections');

/** SQL for the fields of all packages as one jsonb object. A text that is made once: parts per request cost more than the fields. */
export const additionsOf = (sections: readonly ProductSection[]): string =>
  sections.reduce(
    (object, { field, expression }) => `${object} || jsonb_build_object('${field}', ${expression})`,
    `'{}'::jsonb`,
  );
