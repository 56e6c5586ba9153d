import type { TableInChangeLog } from '@tradepost/runtime';

export const analyticsTables: readonly string[] = [
  'analytics.order_days',
  'analytics.changed_hours',
  'analytics.windows',
  'analytics.window_skus',
  'analytics.window_buyers',
  'analytics.window_products',
  'analytics.window_categories',
  'analytics.catalogue_counts',
  'analytics.visit_salts',
  'analytics.visitors',
  'analytics.visit_counts',
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const analyticsInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'analytics.order_days': { unwatched: 'Derived from the orders.' },
  'analytics.changed_hours': { unwatched: 'Derived from the orders.' },
  'analytics.windows': { unwatched: 'Derived from the orders.' },
  'analytics.window_skus': { unwatched: 'Derived from the orders.' },
  'analytics.window_buyers': { unwatched: 'Derived from the orders.' },
  'analytics.window_products': { unwatched: 'Derived from the orders.' },
  'analytics.window_categories': { unwatched: 'Derived from the orders.' },
  'analytics.catalogue_counts': { unwatched: 'Derived from the catalogue.' },
  'analytics.visit_salts': { unwatched: 'Written by visits.' },
  'analytics.visitors': { unwatched: 'Written by visits.' },
  'analytics.visit_counts': { unwatched: 'Written by visits.' },
};
