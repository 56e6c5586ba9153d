import type { TableInChangeLog } from '@tradepost/runtime';

export const orderTables: readonly string[] = [
  'orders.cart_lines',
  'orders.orders',
  'orders.order_items',
  'orders.order_history',
  'orders.order_notes',
  'orders.order_changes',
  'orders.order_blocks',
  'orders.sold_titles',
  'orders.price_changes',
  'orders.reminders',
  'orders.payments',
  'orders.payment_notices',
  'orders.payment_nonces',
  'orders.refunds',
  'orders.order_exports',
  'orders.order_imports',
  'orders.imported_orders',
];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const ordersInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'orders.cart_lines': { unwatched: 'Rows of shoppers.' },
  'orders.orders': { en: 'order', 'zh-CN': '订单' },
  'orders.order_items': { en: 'order line', 'zh-CN': '订单商品' },
  'orders.order_history': { unwatched: 'The history of orders, whose table is watched.' },
  'orders.order_notes': { en: 'order note', 'zh-CN': '订单备注' },
  'orders.order_changes': { unwatched: 'Derived from the orders.' },
  'orders.order_blocks': { unwatched: 'Derived from the orders.' },
  'orders.sold_titles': { unwatched: 'Derived from the order lines.' },
  'orders.price_changes': { unwatched: 'The history of prices of orders, whose tables are watched.' },
  'orders.reminders': { en: 'payment reminder', 'zh-CN': '付款提醒' },
  'orders.payments': { unwatched: 'Written by shoppers and payment providers.' },
  'orders.payment_notices': { unwatched: 'Written by payment providers.' },
  'orders.payment_nonces': { unwatched: 'Written by payment providers.' },
  'orders.refunds': { en: 'refund', 'zh-CN': '退款' },
  'orders.order_exports': { en: 'export of orders', 'zh-CN': '订单导出' },
  'orders.order_imports': { en: 'import of orders', 'zh-CN': '订单导入' },
  'orders.imported_orders': { unwatched: 'Written by imports, whose table is watched.' },
};
/** Orders, lines, refunds, carts and the blocks of order ids: what reports read. */
export const orderPublishes: readonly string[] = [
  'orders.order_facts',
  'orders.line_facts',
  'orders.refund_facts',
  'orders.cart_facts',
  'orders.order_spans',
];
