import type { TableInChangeLog } from '@tradepost/runtime';

export const externalWmsTables: readonly string[] = [
  'inventory.inventory_integration_tasks',
  'inventory.external_callbacks',
  'inventory.external_nonces',
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const externalWmsInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'inventory.inventory_integration_tasks': { en: 'warehouse task', 'zh-CN': '仓库任务' },
  'inventory.external_callbacks': { unwatched: 'Written by the external warehouse.' },
  'inventory.external_nonces': { unwatched: 'Written by the external warehouse.' },
};
