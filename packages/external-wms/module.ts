import { inventoryProviders } from '@tradepost/inventory';
import type { Module } from '@tradepost/module';
import { wmsCommand } from './commands/wms.ts';
import { externalDoctorChecks } from './doctor-checks.ts';
import { externalEntry, externalWarehouse } from './external-entry.ts';
import { externalWmsAudits } from './external-wms-audits.ts';
import { externalMetrics } from './protocol/external-metrics.ts';
import { externalWmsRetention } from './retention.ts';
import { externalWmsSettings } from './settings.ts';
import { externalWmsTables } from './tables.ts';

/** The inventory provider `external_wms`: a partner's warehouse system holds the stock of orders. */
export const externalWmsModule: Module = {
  name: 'external-wms',
  needs: ['inventory'],
  entries: [inventoryProviders.add(externalEntry)],
  tables: externalWmsTables,
  settings: externalWmsSettings,
  audits: externalWmsAudits,
  retention: externalWmsRetention,
  commands: [wmsCommand],
  doctorChecks: externalDoctorChecks,
  metrics: externalMetrics,
  // Also when another provider is active: its open orders still have tasks and callbacks.
  open(context) {
    const { routes, tasks, crons } = context.service(externalWarehouse);
    return { routes: () => routes, tasks, crons };
  },
};
