import type { DashboardCard } from '@tradepost/module';
import { countToShip } from './exchanges/exchange-store.ts';

/** Exchanges that staff have to ship. */
export const pendingExchanges: DashboardCard = {
  field: 'pending_exchanges',
  permission: 'points_mall:view',
  count: countToShip,
};
