import { isoInZone, paged, pagingOf } from '@tradepost/core';
import { defineRoute, pagedOf, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { inventoryErrors } from '../errors.ts';
import { spanOf } from './list-filters.ts';
import { movementQuery, movementView } from './movement-schemas.ts';
import { selectMovements } from './movement-store.ts';
import { skuName } from './sku-name.ts';

export function movementRoutes({ sql, settings }: Runtime): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/wms/movements',
      auth: 'staff',
      permission: 'wms:view',
      tag: 'Warehouses (admin)',
      summary: 'Stock movements, newest first',
      query: movementQuery,
      response: pagedOf(movementView),
      refuses: [inventoryErrors.invalid_moment],
      statements: 1,
      async handle({ query, locale }) {
        const paging = pagingOf(query);
        const zone = settings.get(timeZone);
        const { rows, total } = await selectMovements(sql, query, spanOf(query, zone), paging, locale);
        const list = rows.map((row) => {
          const { id, warehouse_id, sku_id, biz_type, change_qty, before_qty, after_qty, doc_id, doc_no } = row;
          return {
            ...{ id, warehouse_id, sku_id, biz_type, change_qty, before_qty, after_qty, doc_id, doc_no },
            warehouse_name: row.warehouse_name ?? '',
            sku_name: skuName(row, sku_id, locale),
            sku_code: row.sku_code ?? '',
            occurred_at: isoInZone(row.occurred_at, zone),
          };
        });
        return paged(list, total, paging);
      },
    }),
  ];
}
