import { defineRoute, type Route, StreamedFile } from '@tradepost/http';
import { actingSql } from '@tradepost/postgres';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { orderErrors } from '../errors.ts';
import type { OrderFilter } from '../orders/order-sections.ts';
import { openAdminFilter } from '../search/admin-filter.ts';
import { orderExportQuery, ordersFile } from '../search/filter-schemas.ts';
import { exportOrders } from './export-orders.ts';
import { insertExport } from './export-store.ts';

export function exportRoutes(runtime: Runtime, filters: readonly OrderFilter[]): Route[] {
  const { sql, settings } = runtime;
  const adminFilter = openAdminFilter(runtime, filters);
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/orders/export',
      auth: 'staff',
      permission: 'order:view',
      tag: 'Orders (admin)',
      summary: 'All orders that match as CSV, newest first, one line per item',
      description:
        'The filters are those of the list. Each piece of the file is read for itself: an order that changes meanwhile is in it as ' +
        'it is then. The change log has an entry for each export.',
      query: orderExportQuery,
      file: { type: 'text/csv; charset=utf-8', name: 'orders.csv' },
      response: ordersFile,
      refuses: [orderErrors.invalid_time],
      // The keyword has three, the province one, the record of the export one. Each piece has two.
      statements: 5,
      async handle({ query: { no_receivers = false, no_ids = false, ...given }, actor, locale }) {
        const filter = await adminFilter(given);
        const [receivers, ids] = [!no_receivers, !no_ids];
        const shown = { receivers, ids, zone: settings.get(timeZone), locale };
        async function* pieces() {
          const acting = actor ? actingSql(sql, actor) : sql;
          await acting.begin((tx) => insertExport(tx, { filter: given, receivers }));
          for await (const { text } of exportOrders(sql, { filter, ...shown })) yield text;
        }
        return new StreamedFile(pieces());
      },
    }),
  ];
}
