import type { TableInChangeLog } from '@tradepost/runtime';

export const messageCentreTables: readonly string[] = [
  'message_centre.messages',
  'message_centre.broadcast_reads',
  'message_centre.read_positions',
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const messageCentreInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'message_centre.messages': { en: 'message', 'zh-CN': '消息' },
  'message_centre.broadcast_reads': { unwatched: 'Rows of shoppers.' },
  'message_centre.read_positions': { unwatched: 'Rows of shoppers.' },
};
