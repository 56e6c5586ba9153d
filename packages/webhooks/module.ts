import { eventReaders, type Module } from '@tradepost/module';
import { openAddressGuard } from '@tradepost/outbound-http';
import { webhookReader } from './deliveries/read-events.ts';
import { openSender } from './deliveries/send-deliveries.ts';
import { deliveryRoutes } from './delivery-log/delivery-routes.ts';
import { webhookDoctorChecks } from './doctor-checks.ts';
import { endpointRoutes } from './endpoints/endpoint-routes.ts';
import { webhookMenu } from './menu.ts';
import { webhookRetention, webhookRetentionSettings } from './retention.ts';
import { webhookSettings } from './settings.ts';
import { webhookSealed, webhooksInChangeLog, webhookTables } from './tables.ts';
import { webhookAudits } from './webhook-audits.ts';
import { endpointDisabled } from './webhook-events.ts';
import { webhookMetrics } from './webhook-metrics.ts';

/** Sends the events of the shop to systems of other people. */
export const webhooksModule: Module = {
  name: 'webhooks',
  tables: webhookTables,
  changeLog: webhooksInChangeLog,
  sealed: webhookSealed,
  settings: [...webhookSettings, ...webhookRetentionSettings],
  menu: webhookMenu,
  audits: webhookAudits,
  retention: webhookRetention,
  events: [endpointDisabled],
  doctorChecks: webhookDoctorChecks,
  metrics: webhookMetrics,
  open({ runtime, modules }) {
    const kinds = modules.flatMap((module) => module.events ?? []);
    const guard = openAddressGuard({ allowedNetworks: runtime.config.allowedPrivateNetworks });
    const sender = openSender({ runtime, guard });
    return {
      contributions: [eventReaders.add(webhookReader(runtime, kinds))],
      routes: () => [...endpointRoutes({ runtime, guard, kinds }), ...deliveryRoutes(runtime)],
      loops: [{ name: 'webhooks.send', everyMs: 500, run: sender.run }],
      close: sender.close,
    };
  },
};
