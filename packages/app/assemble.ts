import { type Gateway, gatewayService } from '@tradepost/gateway';
import { type App, createApp, systemResources } from '@tradepost/http';
import { type Tokens, tokensService } from '@tradepost/identity';
import { openModules } from '@tradepost/module';
import type { Cron, Runtime, Tasks } from '@tradepost/runtime';
import { modulesOf } from './modules.ts';
import { version } from './version.ts';

export type Assembled = {
  app: App;
  /** Answers the port of the LLM gateway; null where this process does not serve it. */
  gatewayFetch: App['fetch'] | null;
  gatewayBodyLimitOf: App['bodyLimitOf'];
  /** Where the limiter of this process counts; null where it serves no gateway. */
  limiter: Gateway['limiter'];
  tokens: Tokens;
  tasks: Tasks;
  crons: readonly Cron[];
  close(): Promise<void>;
};

/** Opens the modules that the configuration runs and builds the applications of both ports from them. */
export async function assemble(runtime: Runtime): Promise<Assembled> {
  const modules = modulesOf(runtime.config);
  const opened = await openModules(runtime, modules);
  const { context, routes, resources, channels, tasks, crons, close } = opened;
  try {
    const tokens = context.service(tokensService);
    const shared = { authenticate: tokens.verify, runtime };
    const app = createApp({
      ...shared,
      routes,
      resources: [...systemResources(runtime, routes, version, channels), ...resources],
      channels,
    });
    const base = { app, tokens, tasks, crons, close };
    const noGateway = { gatewayFetch: null, gatewayBodyLimitOf: app.bodyLimitOf, limiter: null };
    if (!modules.some(({ name }) => name === 'gateway')) return { ...base, ...noGateway };
    const gateway = context.service(gatewayService);
    // The gateway's port serves the gateway's own administration, and no other routes and no channels of the shop.
    const ownRoutes = opened.routesOf('gateway');
    const ownResources = systemResources(runtime, ownRoutes, version);
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
