export const afterSaleTables: readonly string[] = [
  'fulfilment.after_sale_cases',
  'fulfilment.after_sale_items',
  'fulfilment.after_sale_logs',
  'fulfilment.after_sale_messages',
  'fulfilment.after_sale_evidences',
];
