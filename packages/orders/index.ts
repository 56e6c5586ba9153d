import type { Module } from '@tradepost/http';
import type { Inventory } from '@tradepost/inventory';
import type { Runtime } from '@tradepost/runtime';
import { cartRoutes } from './cart/cart-routes.ts';
import { batchRoutes } from './merchant-tools/batch-routes.ts';
import { extensionRoutes } from './merchant-tools/extension-routes.ts';
import { type OrderMessengers, remindTask, sendReminder } from './merchant-tools/reminders/remind-orders.ts';
import { expireOrders, expireTask, openExpirySchedule } from './orders/expire-orders.ts';
import { foldOrderCounts } from './orders/order-counts-store.ts';
import { orderRoutes } from './orders/order-routes.ts';
import type { OrderSections } from './orders/order-views.ts';
import { cashierResources } from './payments/pay-cashier.ts';
import { paymentRoutes } from './payments/payment-routes.ts';
import { openProviders } from './payments/providers/open-providers.ts';
import { paymentSweepTask, refundPayment, refundTask, sweepPayments } from './payments/refund-payments.ts';

export { selectOrderStatuses } from './orders/batch-store.ts';
export { orderAudits } from './orders/order-audits.ts';
export { markShipped, selectOrder, writeInventoryStatus } from './orders/order-store.ts';
export type { OrderSections } from './orders/order-views.ts';
export { paySignature, signedHeaders } from './payments/pay-signature.ts';
export { selectPaymentToTell } from './payments/payment-store.ts';
export { retryRefund } from './payments/refund-payments.ts';
export { selectRefunds } from './payments/refund-store.ts';
export type { ShipmentView } from './schemas.ts';
export {
  instantPay,
  orderSettings,
  payProvider,
  sandboxCashierUrl,
  sandboxRefundUrl,
  sandboxSecret,
} from './settings.ts';

export function ordersModule(
  runtime: Runtime,
  inventory: Inventory,
  sections: OrderSections,
  messengers: OrderMessengers = {},
): Module {
  const providers = openProviders(runtime);
  return {
    name: 'orders',
    routes: [
      ...cartRoutes(runtime),
      ...orderRoutes(runtime, inventory, sections, openExpirySchedule()),
      ...extensionRoutes(runtime, sections),
      ...batchRoutes(runtime, inventory),
      ...paymentRoutes(runtime, inventory, providers),
    ],
    resources: runtime.config.production ? [] : cashierResources(runtime),
    tasks: {
      [remindTask]: (payload, { log }) => sendReminder(runtime, messengers, payload, { log }),
      async [expireTask](_payload, { log, signal, stopping = signal }) {
        const cancelled = await expireOrders(
          { runtime, inventory },
          { log, signal: AbortSignal.any([signal, stopping]) },
        );
        if (cancelled > 0) log.info({ cancelled }, 'unpaid orders cancelled');
      },
      [refundTask]: (payload, context) => refundPayment({ runtime, providers }, payload, context),
      [paymentSweepTask]: (_payload, context) => sweepPayments({ runtime }, context),
      async 'orders.fold_counts'() {
        await foldOrderCounts(runtime.sql);
      },
    },
    // The nets under the jobs that come with orders and refunds.
    crons: [
      { task: expireTask, match: '*/5 * * * *' },
      { task: paymentSweepTask, match: '*/5 * * * *' },
      { task: 'orders.fold_counts', match: '* * * * *' },
    ],
  };
}

export { orderRetention } from './retention.ts';
