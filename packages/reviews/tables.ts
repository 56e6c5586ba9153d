export const reviewTables: readonly string[] = [
  'reviews.reviews',
  'reviews.review_appends',
  'reviews.review_replies',
  'reviews.product_summaries',
];

/** The names under which instances of the version before read reviews. Nothing else uses them; the next release drops them. */
export const reviewPublishes: readonly string[] = [
  'catalog.reviews',
  'catalog.review_appends',
  'catalog.review_replies',
];
