import { inventoryProviders } from '@tradepost/inventory';
import type { Module } from '@tradepost/module';
import { externalDoctorChecks } from './doctor-checks.ts';
import { externalEntry, externalWarehouse } from './external-entry.ts';
import { externalWmsAudits } from './external-wms-audits.ts';
import { externalMetrics } from './protocol/external-metrics.ts';
import { externalWmsRetention } from './retention.ts';
import { externalWmsSettings } from './settings.ts';
import { externalWmsInChangeLog, externalWmsTables } from './tables.ts';

/** The inventory provider `external_wms`: the warehouse system of a partner holds the stock of orders. */
export const externalWmsModule: Module = {
  name: 'external-wms',
  needs: ['inventory'],
  entries: [inventoryProviders.add(externalEntry)],
  tables: externalWmsTables,
  changeLog: externalWmsInChangeLog,
  settings: externalWmsSettings,
  audits: externalWmsAudits,
  retention: externalWmsRetention,
  doctorChecks: externalDoctorChecks,
  metrics: externalMetrics,
  // These run also when another provider is active, because open orders of this provider still have tasks and callbacks.
  open(context) {
    const { routes, tasks, crons } = context.service(externalWarehouse);
    return { routes: () => routes, tasks, crons };
  },
};
