export { ordersModule } from './module.ts';
export { selectOrderStatuses } from './orders/batch-store.ts';
export {
  type OrderAdditions,
  type OrderFilter,
  type OrderSection,
  orderFilters,
  orderSections,
} from './orders/order-sections.ts';
export { orderStatus } from './orders/order-status.ts';
export { markShipped, selectOrder, writeInventoryStatus } from './orders/order-store.ts';
export { paySignature, signedHeaders } from './payments/pay-signature.ts';
export { type PaymentProviderEntry, paymentProviders, type RedirectProvider } from './payments/providers/provider.ts';
export { retryRefund } from './payments/refund-payments.ts';
export { selectRefunds } from './payments/refund-store.ts';
export type { ShipmentView } from './schemas.ts';
