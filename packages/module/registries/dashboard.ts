import type { Locale } from '@tradepost/core';
import type { Queryable } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { defineRegistry } from '../registry.ts';

/** The administrator who opens the dashboard. */
export type DashboardReader = { readonly id: number; readonly perms: readonly string[] };

/** A number on the dashboard of the back office, such as the orders to ship. */
export type DashboardCard = {
  /** The field of the dashboard that has the number. Two cards do not have the same field. */
  readonly field: string;
  /** The permission that an administrator needs to see the number. */
  readonly permission: string;
  /** Counts in one statement. It is called for every view of the dashboard, so the query uses an index or stored counts. */
  readonly count: (sql: Queryable, reader: DashboardReader) => Promise<number>;
};

/** The cards of all packages. The package that owns the rows declares the card. */
export const dashboardCards = defineRegistry<DashboardCard>('module.dashboard_cards', { isStatic: true });

/** The rows of the lists of the dashboard, by their fields. */
export type DashboardRows = {
  announcements: {
    readonly id: number;
    readonly title: string;
    readonly content: string;
    readonly type: 'normal' | 'urgent' | 'info';
    /** ISO 8601 with the offset of the shop's time zone. */
    readonly created_at: string;
  };
  stock_warning_list: {
    readonly product_id: number;
    readonly sku_id: number;
    readonly title: string;
    readonly stock: number;
    readonly threshold: number;
  };
};

/** A list on the dashboard, such as the announcements. One statement for at most `limit` rows. */
export type DashboardList<Field extends keyof DashboardRows = keyof DashboardRows> = {
  readonly [F in Field]: {
    /** Two lists do not have the same field. */
    readonly field: F;
    /** The permission that an administrator needs to see the rows. Null: every administrator sees them. */
    readonly permission: string | null;
    readonly select: (
      runtime: Pick<Runtime, 'sql' | 'settings' | 'now'>,
      options: { readonly reader: DashboardReader; readonly locale: Locale; readonly limit: number },
    ) => Promise<readonly DashboardRows[F][]>;
  };
}[Field];

/** The lists of all packages. The package that owns the rows declares the list. */
export const dashboardLists = defineRegistry<DashboardList>('module.dashboard_lists', { isStatic: true });

/**
 * Facts that reports read from views of other packages. The package that publishes the views adds its facts. Without them, because
 * the package is switched off, reports have zeros.
 */
export type ReportFacts = 'orders' | 'products';
export const reportFacts = defineRegistry<ReportFacts>('module.report_facts', { isStatic: true });
