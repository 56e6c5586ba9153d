import type { Queryable } from '@tradepost/postgres';
import { defineRegistry } from './registry.ts';

/** A number on the dashboard of the back office, such as the orders to ship. */
export type DashboardCard = {
  /** The field of the dashboard that has the number. Two cards do not have the same field. */
  readonly field: string;
  /** The permission that an administrator needs to see the number. */
  readonly permission: string;
  /** Counts in one statement. It is called for every view of the dashboard, so the query uses an index or stored counts. */
  readonly count: (sql: Queryable) => Promise<number>;
};

/** The cards of all packages. The package that owns the rows declares the card. */
export const dashboardCards = defineRegistry<DashboardCard>('module.dashboard_cards', { isStatic: true });
