import { shopperNotices } from '@tradepost/identity';
import { inventoryService } from '@tradepost/inventory';
import { orderFilters, orderSections } from '@tradepost/orders';
import { carriers } from '../carriers/drivers/driver.ts';
import { openSyncStarter } from '../carriers/sync/sync-jobs.ts';
import type { Part } from '../part.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import { shipmentNotices } from './notices.ts';
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
  entries: shipmentNotices.map(shopperNotices.add),
  open(context) {
    const { runtime } = context;
    const startSync = openSyncStarter(runtime.settings, context.entries(carriers));
    const deps = { runtime, inventory: context.service(inventoryService), startSync };
    return {
      contributions: [
        orderSections.add(shipmentSection(runtime)),
        orderFilters.add({ field: 'logistics_company', matching: shippedWith }),
      ],
      routes: () => [...shipmentRoutes(deps), ...deliveryRoutes(runtime)],
    };
  },
};
