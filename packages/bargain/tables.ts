import type { TableInChangeLog } from '@tradepost/runtime';

export const bargainTables: readonly string[] = ['bargain.bargains', 'bargain.helps'];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const bargainInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'bargain.bargains': { unwatched: 'Rows of shoppers.' },
  'bargain.helps': { unwatched: 'Rows of shoppers.' },
};
