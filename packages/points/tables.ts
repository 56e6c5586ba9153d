import type { TableInChangeLog } from '@tradepost/runtime';

export const pointsTables: readonly string[] = [
  'points.accounts',
  'points.logs',
  'points.order_points',
  'points.sums',
  'points.sum_changes',
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const pointsInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'points.accounts': { unwatched: 'Derived from the ledger.' },
  'points.logs': { en: 'points', 'zh-CN': '积分' },
  'points.order_points': { unwatched: 'Derived from orders and the ledger.' },
  'points.sums': { unwatched: 'Derived from the ledger.' },
  'points.sum_changes': { unwatched: 'Derived from the ledger.' },
};
