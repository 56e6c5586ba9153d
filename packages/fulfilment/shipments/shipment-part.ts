import { orderFilters, orderSections } from '@tradepost/orders';
import type { Part } from '../part.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import { shipmentSettings } from './settings.ts';
import { shipmentAudits } from './shipment-audits.ts';
import { shipmentRoutes } from './shipment-routes.ts';
import { shipmentSection } from './shipment-section.ts';
import { shippedWith } from './shipment-store.ts';
import { shipmentTables } from './tables.ts';

/** First shipments and re-shipments, and the delivery mode. */
export const shipmentPart: Part = {
  tables: shipmentTables,
  settings: shipmentSettings,
  audits: shipmentAudits,
  open: ({ runtime }) => ({
    contributions: [
      orderSections.add(shipmentSection(runtime)),
      orderFilters.add({ field: 'logistics_company', matching: shippedWith }),
    ],
    routes: () => [...shipmentRoutes(runtime), ...deliveryRoutes(runtime)],
  }),
};
