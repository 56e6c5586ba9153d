import type { Module } from '@tradepost/module';
import { orderFilters, orderSections } from '@tradepost/orders';
import { fulfilmentAudits } from './fulfilment-audits.ts';
import { fulfilmentRoutes } from './routes.ts';
import { shipmentSection } from './shipment-section.ts';
import { shippedWith } from './shipment-store.ts';
import { fulfilmentTables } from './tables.ts';

export const fulfilmentModule: Module = {
  name: 'fulfilment',
  needs: ['orders'],
  tables: fulfilmentTables,
  audits: fulfilmentAudits,
  open: ({ runtime }) => ({
    contributions: [
      orderSections.add(shipmentSection(runtime)),
      orderFilters.add({ field: 'logistics_company', matching: shippedWith }),
    ],
    routes: () => fulfilmentRoutes(runtime),
  }),
};
