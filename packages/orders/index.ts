export { maxLines, maxReviewAppends, maxReviewImages, maxShipments } from './limits.ts';
export { ordersModule } from './module.ts';
export {
  type NumberedOrder,
  selectOrderIdOf,
  selectOrderStatuses,
  selectOrdersByNumber,
  selectReceiverPhones,
} from './orders/batch-store.ts';
export {
  type OrderAdditions,
  type OrderFilter,
  type OrderItemAdditions,
  type OrderItemSection,
  type OrderSection,
  orderFilters,
  orderItemSections,
  orderSections,
} from './orders/order-sections.ts';
export { orderStatus } from './orders/order-status.ts';
export { type Actor, markShipped, type ShippedOrder, selectOrder, writeInventoryStatus } from './orders/order-store.ts';
export { completeOrders, endAfterSale, markAfterSale } from './paid-orders/move-orders.ts';
export {
  type LineQuantity,
  lockOrdersForAfterSale,
  type OrderLine,
  type OrderWithLines,
  selectLineQuantities,
  selectOrderLines,
  selectShippedBefore,
} from './paid-orders/order-lines-store.ts';
export { selectSoldItems } from './paid-orders/sold-items-store.ts';
export { setTrackingNumbers } from './paid-orders/tracking-store.ts';
export { type Refundable, selectRefundable } from './payments/order-refund-store.ts';
export { paySignature, signedHeaders } from './payments/pay-signature.ts';
export { type PaymentProviderEntry, paymentProviders, type RedirectProvider } from './payments/providers/provider.ts';
export { type CaseRefund, type RefundOutcome, refundOrders } from './payments/refund-orders.ts';
export { retryRefund } from './payments/refund-payments.ts';
export { selectRefunds } from './payments/refund-store.ts';
export {
  type AfterSaleSummary,
  type OrderItemReview,
  reviewSchema,
  type ShipmentView,
  shipmentSchema,
} from './schemas.ts';
export { refundAttempts } from './settings.ts';
