import { join } from 'node:path';
import { backofficeModule, backofficeSettings } from '@tradepost/backoffice';
import { catalogAudits, catalogModule, catalogSettings } from '@tradepost/catalog';
import { fulfilmentAudits, fulfilmentModule, shipmentSection, shippedWith } from '@tradepost/fulfilment';
import { type Gateway, gatewayAudits, gatewayRetention, gatewaySettings, openGateway } from '@tradepost/gateway';
import {
  type App,
  createApp,
  fileResponse,
  type Module,
  type Resource,
  type Route,
  systemResources,
} from '@tradepost/http';
import {
  identityAudits,
  identityModule,
  identityRetention,
  identitySettings,
  openTokens,
  type Tokens,
} from '@tradepost/identity';
import { inventoryAudits, inventoryRetention, inventorySettings, openInventory } from '@tradepost/inventory';
import { orderAudits, orderRetention, orderSettings, ordersModule, writeInventoryStatus } from '@tradepost/orders';
import {
  type Audit,
  type Cron,
  type RetentionRule,
  type Runtime,
  runRetention,
  runtimeAudits,
  runtimeRetention,
  type Setting,
  type Tasks,
} from '@tradepost/runtime';
import { fixturesFolder } from './seed-demo.ts';
import { version } from './version.ts';

/** The shop settings of all packages. */
export const settings: readonly Setting[] = [
  ...identitySettings,
  ...catalogSettings,
  ...inventorySettings,
  ...orderSettings,
  ...gatewaySettings,
  ...backofficeSettings,
] as readonly Setting[];

/** The invariants of all packages; a list of its own, as they are checked without opening the shop. */
export const audits: readonly Audit[] = [
  ...runtimeAudits,
  ...identityAudits,
  ...catalogAudits,
  ...inventoryAudits,
  ...orderAudits,
  ...fulfilmentAudits,
  ...gatewayAudits,
];

/** What is deleted when it is old; a list of its own, as `tradepost retention` shows it without opening the shop. */
export const retention: readonly RetentionRule[] = [
  ...runtimeRetention,
  ...identityRetention,
  ...inventoryRetention,
  ...orderRetention,
  ...gatewayRetention,
];

export type Assembled = {
  app: App;
  /** Answers the port of the LLM gateway; null where this process is none. */
  gatewayFetch: App['fetch'] | null;
  gatewayBodyLimitOf: App['bodyLimitOf'];
  limiter: Gateway['limiter'];
  tokens: Tokens;
  tasks: Tasks;
  crons: readonly Cron[];
  close(): Promise<void>;
};

const demoPictures: Resource = {
  path: '/uploads/demo/:file',
  summary: 'Pictures of the demo catalogue',
  contentType: 'image/svg+xml',
  handle: (request, { file = '' }) =>
    fileResponse(request, join(fixturesFolder, 'pictures'), file, { maxAge: 86_400, sandbox: true }),
};

/** The one list of modules: what is in it is the shop. */
export async function assemble(runtime: Runtime): Promise<Assembled> {
  const tokens = await openTokens(runtime);
  const stock = await openInventory(runtime, { writeOrderStatus: writeInventoryStatus });
  const gateway = await openGateway(runtime, { serves: runtime.config.only.includes('gateway') });
  const modules: Module[] = [
    {
      name: 'runtime',
      tasks: {
        'runtime.retention': async (_payload, { stopping }) => {
          await runRetention(runtime, retention, stopping);
        },
      },
      crons: [{ task: 'runtime.retention', match: '41 * * * *' }],
    },
    identityModule(runtime, tokens, () => routes),
    catalogModule(runtime, stock.keeper),
    stock.module,
    ordersModule(runtime, stock.inventory, { shipments: shipmentSection(runtime), shippedWith }),
    fulfilmentModule(runtime),
    gateway.module,
    backofficeModule(runtime, () => routes),
  ];
  const routes: readonly Route[] = modules.flatMap((module) => module.routes ?? []);
  const resources = [demoPictures, ...modules.flatMap((module) => module.resources ?? [])];
  const app = createApp({
    routes,
    resources: [...systemResources(runtime, routes, version), ...resources],
    authenticate: tokens.verify,
    runtime,
  });
  // Its port is for other people than the shop's: of the shop it has what administers the gateway.
  const own = gateway.module.routes ?? [];
  const gatewayApp = createApp({
    routes: own,
    resources: systemResources(runtime, own, version),
    authenticate: tokens.verify,
    runtime,
  });
  return {
    app,
    gatewayFetch: gateway.fetch?.(gatewayApp.fetch) ?? null,
    gatewayBodyLimitOf: (method, path) =>
      path.startsWith('/v1/') ? runtime.config.gatewayMaxBodyBytes : gatewayApp.bodyLimitOf(method, path),
    limiter: gateway.limiter,
    tokens,
    tasks: Object.assign({}, ...modules.map((module) => module.tasks ?? {})) as Tasks,
    crons: modules.flatMap((module) => module.crons ?? []),
    async close() {
      await gateway.close();
      await stock.close();
      await tokens.close();
    },
  };
}
