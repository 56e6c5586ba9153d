import { defineRegistry } from '@tradepost/module';
import type { Queryable, Statement } from '@tradepost/postgres';

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
  /** The value of the field as jsonb, by an index on the product id. */
  expressionOf(sql: Queryable, productId: Statement): Statement;
};

export const productSections = defineRegistry<ProductSection>('catalog.product_sections');

/** The fields of all packages for the product `p`, as one jsonb object. */
export const additionsOf = (sql: Queryable, sections: readonly ProductSection[]): Statement =>
  sections.reduce(
    (object, { field, expressionOf }) =>
      sql`${object} || jsonb_build_object(${field}::text, ${expressionOf(sql, sql`p.id`)})`,
    sql`'{}'::jsonb`,
  );
