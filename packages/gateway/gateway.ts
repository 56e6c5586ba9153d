import type { App, Route } from '@tradepost/http';
import type { Limiter } from '@tradepost/rate-limiter';
import type { Runtime } from '@tradepost/runtime';
import { openLimiter, openLimiterView } from './limits/open-limiter.ts';
import { gatewayFetch } from './proxy/gateway-fetch.ts';
import { openRateGate } from './proxy/rate-gate.ts';
import { gatewayRoutes } from './routes.ts';
import { openApiTokens } from './tokens/api-tokens.ts';
import { upstreamRoutes } from './upstreams/upstream-routes.ts';
import { openUpstreams } from './upstreams/upstreams.ts';
import { openUsageLog } from './usage/usage-log.ts';
import { usageRoutes } from './usage/usage-routes.ts';

export type Gateway = {
  /** The administration of the gateway, served on the port of the shop and on the port of the gateway. */
  readonly routes: readonly Route[];
  /** Answers the gateway port; null in a process without a gateway. `app` answers requests outside the proxy. */
  readonly fetch: ((app: App['fetch']) => App['fetch']) | null;
  /** Where the limiter keeps its logs; null in a process without a gateway. */
  readonly limiter: Limiter['kind'] | null;
  close(): Promise<void>;
};

/** `serves`: this process serves the gateway port. When false, it has only the administration routes. */
export async function openGateway(runtime: Runtime, { serves }: { serves: boolean }): Promise<Gateway> {
  const tokens = await openApiTokens(runtime);
  const upstreams = openUpstreams(runtime, { serves });
  const routesWith = (gate: Parameters<typeof gatewayRoutes>[2]) => [
    ...gatewayRoutes(runtime, tokens, gate),
    ...upstreamRoutes(upstreams),
    ...usageRoutes(runtime),
  ];
  if (!serves) {
    const view = openLimiterView(runtime);
    return {
      routes: routesWith(view),
      fetch: null,
      limiter: null,
      async close() {
        await Promise.all([view.close(), upstreams.close(), tokens.close()]);
      },
    };
  }
  const limiter = await openLimiter(runtime);
  const gate = openRateGate(runtime, limiter);
  const usage = openUsageLog(runtime);
  return {
    routes: routesWith(gate),
    fetch: (app) => gatewayFetch({ runtime, gate, tokens, upstreams, usage, app }),
    limiter: limiter.kind,
    async close() {
      await usage.close();
      await Promise.all([gate.close(), upstreams.close(), tokens.close()]);
    },
  };
}
