import { type Gateway, gatewayService } from '@tradepost/gateway';
import { type App, createApp, systemResources } from '@tradepost/http';
import { type Tokens, tokensService } from '@tradepost/identity';
import { openModules } from '@tradepost/module';
import type { Cron, Loop, Runtime, Tasks } from '@tradepost/runtime';
import { openHome } from './home/open-home.ts';
import { modulesOf } from './modules.ts';
import { openTranslations } from './openapi/translations.ts';
import { version } from './version.ts';

export type Assembled = {
  app: App;
  /** Serves the port of the LLM gateway; null when this process runs no gateway. */
  gatewayFetch: App['fetch'] | null;
  gatewayBodyLimitOf: App['bodyLimitOf'];
  /** The kind of limiter store of this process; null when it runs no gateway. */
  limiter: Gateway['limiter'];
  tokens: Tokens;
  tasks: Tasks;
  crons: readonly Cron[];
  loops: readonly Loop[];
  close(): Promise<void>;
};

/** Opens the modules that the configuration runs, and builds the applications of both ports. */
export async function assemble(runtime: Runtime): Promise<Assembled> {
  const modules = modulesOf(runtime.config);
  const opened = await openModules(runtime, modules);
  const { context, routes, resources, channels, tasks, crons, loops, close } = opened;
  try {
    const tokens = context.service(tokensService);
    const translate = openTranslations();
    const homePage = openHome(runtime);
    const shared = { authenticate: tokens.verify, runtime };
    const app = createApp({
      ...shared,
      routes,
      resources: [...systemResources(runtime, routes, version, { channels, homePage, translate }), ...resources],
      channels,
    });
    const base = { app, tokens, tasks, crons, loops, close };
    const noGateway = { gatewayFetch: null, gatewayBodyLimitOf: app.bodyLimitOf, limiter: null };
    if (!modules.some(({ name }) => name === 'gateway')) return { ...base, ...noGateway };
    const gateway = context.service(gatewayService);
    // The gateway port serves the gateway's own admin routes and no shop routes or channels.
    const ownRoutes = opened.routesOf('gateway');
    const ownResources = systemResources(runtime, ownRoutes, version, { translate });
    const gatewayApp = createApp({ ...shared, routes: ownRoutes, resources: ownResources });
    return {
      ...base,
      gatewayFetch: gateway.fetch?.(gatewayApp.fetch) ?? null,
      gatewayBodyLimitOf: (method, path) =>
        path.startsWith('/v1/') ? runtime.config.gatewayMaxBodyBytes : gatewayApp.bodyLimitOf(method, path),
      limiter: gateway.limiter,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
