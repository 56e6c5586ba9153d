import type { TableInChangeLog } from '@tradepost/runtime';

export const checkinTables: readonly string[] = ['checkin.rules', 'checkin.streaks', 'checkin.check_ins'];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const checkinInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'checkin.rules': { en: 'check-in rule', 'zh-CN': '签到规则' },
  'checkin.streaks': { unwatched: 'Rows of shoppers.' },
  'checkin.check_ins': { unwatched: 'Rows of shoppers.' },
};
