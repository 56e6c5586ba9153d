import type { Labels } from '@tradepost/core';

/** The states of an order, by their numbers on the wire and in the database. */
export const orderStatus = {
  pendingPayment: 1,
  /** Paid, not shipped yet. */
  paid: 2,
  /** Shipped, not received yet. */
  shipped: 3,
  completed: 4,
  /** Has an open after-sale case. */
  afterSale: 5,
  cancelled: 6,
} as const;
export type OrderStatus = (typeof orderStatus)[keyof typeof orderStatus];

const allStatuses = Object.values(orderStatus);
/** The state with this number, or null for another number. */
export const orderStatusOf = (number: number): OrderStatus | null =>
  allStatuses.find((status) => status === number) ?? null;

export type Transition = {
  readonly from: readonly OrderStatus[];
  /** Several states when the caller chooses one of them. */
  readonly to: OrderStatus | readonly OrderStatus[];
};

/** The transitions of an order. Each is an update guarded by `from`. When the update returns no row, it is refused. */
export const orderTransitions = {
  pay: { from: [orderStatus.pendingPayment], to: orderStatus.paid },
  user_cancel: { from: [orderStatus.pendingPayment], to: orderStatus.cancelled },
  timeout: { from: [orderStatus.pendingPayment], to: orderStatus.cancelled },
  merchant_close: { from: [orderStatus.pendingPayment], to: orderStatus.cancelled },
  /** The group of a group-buy order failed. The order is refunded in full and its goods come back into stock. */
  group_failed: { from: [orderStatus.paid], to: orderStatus.cancelled },
  ship: { from: [orderStatus.paid], to: orderStatus.shipped },
  /** All lines were reviewed. */
  reviewed: { from: [orderStatus.shipped], to: orderStatus.completed },
  /** Some days after the shipment. */
  auto_complete: { from: [orderStatus.shipped], to: orderStatus.completed },
  after_sale_open: {
    from: [orderStatus.paid, orderStatus.shipped, orderStatus.completed],
    to: orderStatus.afterSale,
  },
  /** The last open case has ended. The order returns to the state that it had before. */
  after_sale_end: {
    from: [orderStatus.afterSale],
    to: [orderStatus.paid, orderStatus.shipped, orderStatus.completed],
  },
  /** The last open case has ended, and all money was refunded before the order was shipped. */
  after_sale_refunded: { from: [orderStatus.afterSale], to: orderStatus.cancelled },
} as const satisfies Record<string, Transition>;

/** Whether this order can still be paid: it is pending payment and has not expired, whether or not the sweep has run. */
export const isPayable = ({ status, expires_at }: { status: OrderStatus; expires_at: Date }, now: Date): boolean =>
  status === orderStatus.pendingPayment && expires_at > now;

export const orderStatusLabels: Labels = {
  [orderStatus.pendingPayment]: { en: 'Pending Payment', 'zh-CN': '待付款' },
  [orderStatus.paid]: { en: 'Pending Shipment', 'zh-CN': '待发货' },
  [orderStatus.shipped]: { en: 'Pending Receipt', 'zh-CN': '待收货' },
  [orderStatus.completed]: { en: 'Completed', 'zh-CN': '已完成' },
  [orderStatus.afterSale]: { en: 'After-Sale', 'zh-CN': '售后中' },
  [orderStatus.cancelled]: { en: 'Canceled', 'zh-CN': '已取消' },
};
