export {
  type ActivityLine,
  type ActivitySnapshot,
  type CartActivities,
  cartActivities,
} from './cart/cart-activities.ts';
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
export { definePaymentMethod } from './orders/payment-methods.ts';
export { type PaidOrders, paidOrdersService } from './paid-orders/cancel-paid-orders.ts';
export { completeOrders, endAfterSale, markAfterSale } from './paid-orders/move-orders.ts';
export {
  type LineQuantity,
  lockOrdersForAfterSale,
  type OrderLine,
  type OrderWithLines,
  selectLineQuantities,
  selectOpenOrdersOfRow,
  selectOrderLines,
  selectShippedBefore,
} from './paid-orders/order-lines-store.ts';
export {
  type HeldOrder,
  heldRefusal,
  type ShippingHold,
  selectHeldOrders,
  shippingHolds,
} from './paid-orders/shipping-holds.ts';
export { selectSoldItems } from './paid-orders/sold-items-store.ts';
export { setTrackingNumbers } from './paid-orders/tracking-store.ts';
export { type Refundable, selectRefundable } from './payments/order-refund-store.ts';
export { paySignature, signedHeaders } from './payments/pay-signature.ts';
export { paymentEndpointCheck } from './payments/providers/endpoint-check.ts';
export { paymentErrors } from './payments/providers/payment-errors.ts';
export {
  type NoticeReceivers,
  type OpeningPayment,
  type PayAction,
  type PaymentProviderEntry,
  type PaymentReport,
  type ProviderRecord,
  type ProviderRuntime,
  paymentProviders,
  type RecordName,
  type RedirectEntry,
  type RedirectProvider,
  type RefundAnswer,
  type RefundReport,
  type RefundRequest,
} from './payments/providers/provider.ts';
export {
  optionalAddress,
  optionalAddressRule,
  rsaKeyRule,
  rsaKeyText,
} from './payments/providers/provider-fields.ts';
export { type CaseRefund, type RefundOutcome, refundOrders } from './payments/refund-orders.ts';
export { retryRefund } from './payments/refund-payments.ts';
export { selectRefunds } from './payments/refund-store.ts';
export {
  type PaymentSubject,
  paymentSubjects,
  type SubjectPayment,
  type SubjectPayments,
  type SubjectSession,
  subjectPaymentsService,
} from './payments/subjects/payment-subject.ts';
export {
  type AfterSaleSummary,
  type OrderItemReview,
  reviewSchema,
  type ShipmentView,
  shipmentSchema,
} from './schemas.ts';
export { payCurrency, refundAttempts } from './settings.ts';
