import type { TableInChangeLog } from '@tradepost/runtime';

export const storageTables: readonly string[] = ['storage.files', 'storage.reference_names'];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const storageInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'storage.files': { en: 'uploaded file', 'zh-CN': '上传文件' },
  'storage.reference_names': { unwatched: 'Written at the start of the shop.' },
};
