export const reviewTables: readonly string[] = [
  'reviews.reviews',
  'reviews.review_appends',
  'reviews.review_replies',
  'reviews.product_summaries',
];
