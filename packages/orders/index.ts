import type { Module } from '@tradepost/http';
import type { InventoryProvider } from '@tradepost/inventory';
import type { Runtime } from '@tradepost/runtime';
import { cartRoutes } from './cart-routes.ts';
import { expireOrders, expireTask, openExpirySchedule } from './expire-orders.ts';
import { orderRoutes } from './order-routes.ts';
import type { OrderSections } from './order-views.ts';

export { markShipped, selectOrder } from './order-store.ts';
export type { OrderSections } from './order-views.ts';
export type { ShipmentView } from './schemas.ts';
export { orderSettings } from './settings.ts';

export function ordersModule(runtime: Runtime, inventory: InventoryProvider, sections: OrderSections): Module {
  return {
    name: 'orders',
    routes: [...cartRoutes(runtime), ...orderRoutes(runtime, inventory, sections, openExpirySchedule())],
    tasks: {
      async [expireTask](_payload, { log, signal }) {
        const cancelled = await expireOrders({ runtime, inventory }, { log, signal });
        if (cancelled > 0) log.info({ cancelled }, 'unpaid orders cancelled');
      },
    },
    // The net under the sweeps that come with the orders.
    crons: [{ task: expireTask, match: '*/5 * * * *' }],
  };
}
