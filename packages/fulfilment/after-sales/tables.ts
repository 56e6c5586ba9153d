import type { TableInChangeLog } from '@tradepost/runtime';

export const afterSaleTables: readonly string[] = [
  'fulfilment.after_sale_cases',
  'fulfilment.after_sale_items',
  'fulfilment.after_sale_logs',
  'fulfilment.after_sale_messages',
  'fulfilment.after_sale_evidences',
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const afterSalesInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'fulfilment.after_sale_cases': { en: 'after-sale case', 'zh-CN': '售后单' },
  'fulfilment.after_sale_items': { unwatched: 'Follows from the cases.' },
  'fulfilment.after_sale_logs': { unwatched: 'The history of cases, whose table is watched.' },
  'fulfilment.after_sale_messages': { en: 'after-sale message', 'zh-CN': '售后留言' },
  'fulfilment.after_sale_evidences': { en: 'after-sale evidence', 'zh-CN': '售后凭证' },
};
