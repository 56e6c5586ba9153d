import type { Module } from '@tradepost/http';
import type { Inventory } from '@tradepost/inventory';
import type { Runtime } from '@tradepost/runtime';
import { batchRoutes } from './batch-routes.ts';
import { cartRoutes } from './cart-routes.ts';
import { expireOrders, expireTask, openExpirySchedule } from './expire-orders.ts';
import { extensionRoutes } from './extension-routes.ts';
import { foldOrderCounts } from './order-counts-store.ts';
import { orderRoutes } from './order-routes.ts';
import type { OrderSections } from './order-views.ts';
import { cashierResources } from './pay-cashier.ts';
import { paymentRoutes } from './payment-routes.ts';
import { openProviders } from './providers/open-providers.ts';
import { paymentSweepTask, refundPayment, refundTask, sweepPayments } from './refund-payments.ts';
import { type OrderMessengers, remindTask, sendReminder } from './remind-orders.ts';

export { selectOrderStatuses } from './batch-store.ts';
export { orderAudits } from './order-audits.ts';
export { markShipped, selectOrder, writeInventoryStatus } from './order-store.ts';
export type { OrderSections } from './order-views.ts';
export { paySignature, signedHeaders } from './pay-signature.ts';
export { selectPaymentToTell } from './payment-store.ts';
export { retryRefund } from './refund-payments.ts';
export { selectRefunds } from './refund-store.ts';
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
