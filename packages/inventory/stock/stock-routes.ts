import { isoInZone, type Locale, paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, list, nothing, pagedOf, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { inventoryErrors } from '../errors.ts';
import { maxStockRows } from '../limits.ts';
import { skuName } from './sku-name.ts';
import { safeQtyBody, stockQuery, stocksBySkusQuery, stockView } from './stock-schemas.ts';
import { type StockRow, selectStocks, selectStocksOf, updateSafeQty } from './stock-store.ts';

const tag = 'Warehouses (admin)';

export function stockRoutes(runtime: Runtime): Route[] {
  const { sql, settings } = runtime;
  const viewOf = (row: StockRow, locale: Locale) => {
    const { id, warehouse_id, warehouse_name, warehouse_status, sku_id, qty, reserved_qty, safe_qty } = row;
    const zone = settings.get(timeZone);
    return {
      ...{ id, warehouse_id, warehouse_name, warehouse_status, sku_id, qty, reserved_qty, safe_qty },
      sku_name: skuName(row, sku_id, locale),
      sku_code: row.sku_code ?? '',
      is_warning: qty < safe_qty,
      warning_gap: Math.max(safe_qty - qty, 0),
      created_at: isoInZone(row.created_at, zone),
      updated_at: isoInZone(row.updated_at, zone),
    };
  };
  // The two consoles use different paths.
  const safetyRoute = (path: string) =>
    defineRoute({
      method: 'PUT',
      path,
      auth: 'staff',
      permission: 'wms:edit',
      tag,
      summary: 'Set the safety stock of a SKU in a warehouse',
      params: idParams,
      body: safeQtyBody,
      response: nothing,
      refuses: [inventoryErrors.stock_not_found],
      statements: 1,
      repeat: 'recorded',
      handle: ({ params, body, write }) =>
        write(async (tx) => {
          if (!(await updateSafeQty(tx, params.id, body.safe_qty))) throw inventoryErrors.stock_not_found();
          return null;
        }),
    });

  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/wms/stocks',
      auth: 'staff',
      permission: 'wms:view',
      tag,
      summary: 'Stock by SKU and warehouse, newest row first',
      query: stockQuery,
      response: pagedOf(stockView),
      statements: 1,
      async handle({ query, locale }) {
        const paging = pagingOf(query);
        const { rows, total } = await selectStocks(sql, query, paging, locale);
        return paged(
          rows.map((row) => viewOf(row, locale)),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/wms/stocks/by-skus',
      auth: 'staff',
      permission: 'wms:view',
      tag,
      summary: 'Stock of SKUs in all warehouses; empty when there is no warehouse',
      query: stocksBySkusQuery,
      response: list(stockView, maxStockRows),
      statements: 1,
      async handle({ query, locale }) {
        if (!query.sku_ids) return [];
        const rows = await selectStocksOf(sql, [...new Set(query.sku_ids.split(',').map(Number))], locale);
        return rows.map((row) => viewOf(row, locale));
      },
    }),
    safetyRoute('/admin/api/wms/stocks/:id/safety'),
    safetyRoute('/admin/api/wms/stocks/:id/safe-qty'),
  ];
}
