import type { TableInChangeLog } from '@tradepost/runtime';

export const groupBuyTables: readonly string[] = ['group_buy.groups', 'group_buy.members'];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const groupBuyInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'group_buy.groups': { unwatched: 'Rows of shoppers.' },
  'group_buy.members': { unwatched: 'Rows of shoppers.' },
};
