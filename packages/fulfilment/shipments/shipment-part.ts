import { shopperNotices } from '@tradepost/identity';
import { inventoryService } from '@tradepost/inventory';
import { inboxTemplates } from '@tradepost/module';
import { orderFilters, orderSections, shippingHolds } from '@tradepost/orders';
import { carriers } from '../carriers/drivers/driver.ts';
import { openSyncStarter } from '../carriers/sync/sync-jobs.ts';
import { shipmentEvents } from '../fulfilment-events.ts';
import { shipmentInboxTemplates } from '../inbox-templates.ts';
import type { Part } from '../part.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import { shipmentNotices } from './notices.ts';
import { shipmentSettings } from './settings.ts';
import { shipmentAudits } from './shipment-audits.ts';
import { shipmentRoutes } from './shipment-routes.ts';
import { shipmentSection } from './shipment-section.ts';
import { shippedWith } from './shipment-store.ts';
import { shipmentsInChangeLog, shipmentTables } from './tables.ts';

/** First shipments and re-shipments, and the delivery mode. */
export const shipmentPart: Part = {
  tables: shipmentTables,
  changeLog: shipmentsInChangeLog,
  settings: shipmentSettings,
  audits: shipmentAudits,
  entries: [...shipmentNotices.map(shopperNotices.add), ...shipmentInboxTemplates.map(inboxTemplates.add)],
  events: shipmentEvents,
  open(context) {
    const { runtime } = context;
    const startSync = openSyncStarter(runtime.settings, context.entries(carriers));
    const inventory = context.service(inventoryService);
    const deps = { runtime, inventory, startSync, holds: context.entries(shippingHolds) };
    return {
      contributions: [
        orderSections.add(shipmentSection(runtime)),
        orderFilters.add({ field: 'logistics_company', matching: shippedWith }),
      ],
      routes: () => [...shipmentRoutes(deps), ...deliveryRoutes(runtime)],
    };
  },
};
