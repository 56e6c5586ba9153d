import type { DashboardCard } from '@tradepost/module';
import { countWaiting } from './withdrawals/withdrawal-store.ts';

/** Withdrawals that staff have to approve or to pay. */
export const pendingWithdrawals: DashboardCard = {
  field: 'pending_withdrawals',
  permission: 'distribution:view',
  count: countWaiting,
};
