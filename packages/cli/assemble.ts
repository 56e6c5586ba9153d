import { join } from 'node:path';
import { backofficeModule, backofficeSettings } from '@tradepost/backoffice';
import { catalogModule, catalogSettings } from '@tradepost/catalog';
import { fulfilmentModule, shipmentSection } from '@tradepost/fulfilment';
import {
  type App,
  createApp,
  fileResponse,
  type Module,
  type Resource,
  type Route,
  systemResources,
} from '@tradepost/http';
import { identityModule, identitySettings, openTokens, type Tokens } from '@tradepost/identity';
import { inventorySettings, openInventory } from '@tradepost/inventory';
import { orderSettings, ordersModule } from '@tradepost/orders';
import type { Audit, Cron, Runtime, Setting, Tasks } from '@tradepost/runtime';
import { fixturesFolder } from './seed-demo.ts';
import { version } from './version.ts';

/** The shop settings of all packages. */
export const settings: readonly Setting[] = [
  ...identitySettings,
  ...catalogSettings,
  ...inventorySettings,
  ...orderSettings,
  ...backofficeSettings,
] as readonly Setting[];

export type Assembled = {
  app: App;
  tokens: Tokens;
  tasks: Tasks;
  crons: readonly Cron[];
  audits: readonly Audit[];
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
  const inventory = openInventory(runtime);
  const modules: Module[] = [
    identityModule(runtime, tokens),
    catalogModule(runtime),
    ordersModule(runtime, inventory, { shipments: shipmentSection(runtime) }),
    fulfilmentModule(runtime),
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
  return {
    app,
    tokens,
    tasks: Object.assign({}, ...modules.map((module) => module.tasks ?? {})) as Tasks,
    crons: modules.flatMap((module) => module.crons ?? []),
    audits: modules.flatMap((module) => module.audits ?? []),
    close: () => tokens.close(),
  };
}
