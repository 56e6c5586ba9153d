import type { Module, ModuleContext } from '@tradepost/module';
import type { Part } from '../part.ts';
import { carrierAudits } from './carrier-audits.ts';
import { carrierMetrics } from './carrier-metrics.ts';
import { carrierRoutes } from './carrier-routes.ts';
import { carrierDoctorCheck, developmentCarrierCheck } from './doctor-check.ts';
import { carriers, driverSettings } from './drivers/driver.ts';
import { kdniao } from './drivers/kdniao.ts';
import { kuaidi100 } from './drivers/kuaidi100.ts';
import { carrierRetention } from './retention.ts';
import { carrierSettings, routerSettings } from './settings.ts';
import { openSyncDeps } from './sync/sync-deps.ts';
import { pollTask, syncJobs } from './sync/sync-jobs.ts';
import { carriersInChangeLog, carrierTables } from './tables.ts';

const ownDrivers = [kuaidi100, kdniao];

/** The settings and the doctor checks that depend on the drivers of all modules. */
export const declareCarriers: NonNullable<Module['declares']> = (entries) => {
  const drivers = entries(carriers);
  return {
    settings: [...routerSettings(drivers), ...driverSettings(drivers)],
    doctorChecks: [carrierDoctorCheck(drivers), developmentCarrierCheck(drivers)],
  };
};

/** Queries of carriers: drivers, router, sync and the events on the way of shipments. */
export const carrierPart: Part = {
  tables: carrierTables,
  changeLog: carriersInChangeLog,
  entries: ownDrivers.map(carriers.add),
  settings: carrierSettings,
  audits: carrierAudits,
  retention: carrierRetention,
  metrics: carrierMetrics,
  open(context: ModuleContext) {
    const { runtime } = context;
    const deps = openSyncDeps(runtime, context.entries(carriers));
    return {
      routes: () => carrierRoutes(runtime, deps),
      tasks: syncJobs(deps),
      crons: [{ task: pollTask, match: '* * * * *' }],
      close: () => deps.client.close(),
    };
  },
};
