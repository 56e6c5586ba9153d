import { isoInZone, paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, nothing, pagedOf, type Route } from '@tradepost/http';
import { actingRuntime, type Runtime, timeZone } from '@tradepost/runtime';
import type { WarehouseHooks } from '../documents/document-hooks.ts';
import { inventoryErrors } from '../errors.ts';
import { maxWarehouses } from '../limits.ts';
import { changeWarehouse, createWarehouse } from './save-warehouses.ts';
import {
  warehouseCreateBody,
  warehouseQuery,
  warehouseStatusBody,
  warehouseUpdateBody,
  warehouseView,
} from './warehouse-schemas.ts';
import { selectWarehouses, type Warehouse } from './warehouse-store.ts';

const tag = 'Warehouses (admin)';

export function warehouseRoutes(runtime: Runtime, hooks: WarehouseHooks): Route[] {
  const { sql, settings } = runtime;
  const viewOf = ({ id, code, name, address, contact, phone, status, created_at, updated_at }: Warehouse) => ({
    ...{ id, code, name, address, contact, phone, status },
    created_at: isoInZone(created_at, settings.get(timeZone)),
    updated_at: isoInZone(updated_at, settings.get(timeZone)),
  });
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/wms/warehouses',
      auth: 'staff',
      permission: 'wms:view',
      tag,
      summary: 'Warehouses, oldest first',
      description: `Without \`page\` and \`size\` the list has all warehouses, up to ${maxWarehouses}.`,
      query: warehouseQuery,
      response: pagedOf(warehouseView, maxWarehouses),
      statements: 1,
      async handle({ query }) {
        const unpaged = query.page === undefined && query.size === undefined;
        const paging = pagingOf(query, { cap: maxWarehouses, size: unpaged ? maxWarehouses : 20 });
        const { rows, total } = await selectWarehouses(sql, query, paging);
        return paged(rows.map(viewOf), total, paging);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/wms/warehouses',
      auth: 'staff',
      permission: 'wms:edit',
      tag,
      summary: 'Create a warehouse',
      body: warehouseCreateBody,
      response: warehouseView,
      refuses: [inventoryErrors.too_many_warehouses, inventoryErrors.warehouse_code_taken],
      repeat: 'recorded',
      statements: 3,
      async handle({ body, claim, actor }) {
        const { code, name, address = '', contact = '', phone = '', status } = body;
        const fields = { code, name, address, contact, phone, status: status === 0 ? 0 : 1 } as const;
        return viewOf(await createWarehouse(actingRuntime(runtime, actor), fields, claim));
      },
    }),
    defineRoute({
      method: 'PUT',
      path: '/admin/api/wms/warehouses/:id',
      auth: 'staff',
      permission: 'wms:edit',
      tag,
      summary: 'Change a warehouse: the fields that the body has',
      params: idParams,
      body: warehouseUpdateBody,
      response: nothing,
      refuses: [
        inventoryErrors.warehouse_not_found,
        inventoryErrors.warehouse_code_taken,
        inventoryErrors.warehouse_too_full,
      ],
      statements: 5,
      repeat: 'recorded',
      async handle({ params, body, write }) {
        await write((tx) => changeWarehouse(tx, hooks, params.id, body));
        return null;
      },
    }),
    defineRoute({
      method: 'PUT',
      path: '/admin/api/wms/warehouses/:id/status',
      auth: 'staff',
      permission: 'wms:edit',
      tag,
      summary: 'Enable a warehouse (1) or disable it (0)',
      description:
        'A disabled warehouse gets no new reservations, and documents are not completed there. ' +
        'Orders keep their stock there until they are paid or cancelled.',
      params: idParams,
      body: warehouseStatusBody,
      response: nothing,
      refuses: [inventoryErrors.warehouse_not_found, inventoryErrors.warehouse_too_full],
      statements: 5,
      repeat: 'recorded',
      async handle({ params, body, write }) {
        await write((tx) => changeWarehouse(tx, hooks, params.id, { status: body.status }));
        return null;
      },
    }),
  ];
}
