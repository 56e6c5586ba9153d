import type { ProductSection } from '@tradepost/catalog';
import { summaryOf } from './product-review-store.ts';

/** Adds the summary of its reviews to the page of a product. */
export const summarySection: ProductSection = { field: 'review_summary', expression: summaryOf('p.id') };
