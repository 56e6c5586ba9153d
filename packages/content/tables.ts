import type { TableInChangeLog } from '@tradepost/runtime';

export const contentTables: readonly string[] = [
  'content.decor_pages',
  'content.decor_variants',
  'content.decor_publications',
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const contentInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'content.decor_pages': { unwatched: 'Follows from the variants.' },
  'content.decor_publications': { unwatched: 'The history of the variants, whose table is watched.' },
  'content.decor_variants': { en: 'page variant', 'zh-CN': '页面方案' },
};
