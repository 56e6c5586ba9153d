import { defineService, type Module } from '@tradepost/module';
import { gatewayDoctorChecks } from './doctor-checks.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { gatewayAudits } from './gateway-audits.ts';
import { gatewayMetrics } from './gateway-metrics.ts';
import { gatewayRetention } from './retention.ts';
import { gatewaySettings } from './settings.ts';
import { gatewayInChangeLog, gatewayTables } from './tables.ts';
import { closeStale, closeStaleTask } from './usage/usage-log.ts';

/** The gateway of this process: its routes, the handler of its port, and its kind of limiter. */
export const gatewayService = defineService<Gateway>('gateway.gateway');

export const gatewayModule: Module = {
  name: 'gateway',
  needs: ['identity'],
  tables: gatewayTables,
  changeLog: gatewayInChangeLog,
  settings: gatewaySettings,
  audits: gatewayAudits,
  retention: gatewayRetention,
  metrics: gatewayMetrics,
  doctorChecks: gatewayDoctorChecks,
  async open({ runtime }) {
    const gateway = await openGateway(runtime, { serves: runtime.config.only.includes('gateway') });
    return {
      provides: [gatewayService.provide(gateway)],
      routes: () => gateway.routes,
      tasks: { [closeStaleTask]: () => closeStale(runtime) },
      crons: [{ task: closeStaleTask, match: '23 * * * *' }],
      close: gateway.close,
    };
  },
};
