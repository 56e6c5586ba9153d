import type { TableInChangeLog } from '@tradepost/runtime';

export const backofficeTables: readonly string[] = ['backoffice.announcements'];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const backofficeInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'backoffice.announcements': { en: 'announcement', 'zh-CN': '公告' },
};
