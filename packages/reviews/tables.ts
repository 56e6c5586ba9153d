import type { TableInChangeLog } from '@tradepost/runtime';

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

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const reviewsInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'reviews.reviews': { unwatched: 'Rows of shoppers.' },
  'reviews.review_appends': { unwatched: 'Rows of shoppers.' },
  'reviews.review_replies': { en: 'reply to a review', 'zh-CN': '评价回复' },
  'reviews.product_summaries': { unwatched: 'Derived from the reviews.' },
};
