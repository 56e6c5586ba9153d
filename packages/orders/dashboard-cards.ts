import type { DashboardCard } from '@tradepost/module';
import { countOrders } from './orders/order-counts-store.ts';
import { orderStatus } from './orders/order-status.ts';

export const pendingShip: DashboardCard = {
  field: 'pending_ship',
  permission: 'order:view',
  count: (sql) => countOrders(sql, orderStatus.paid),
};
