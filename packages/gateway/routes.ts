import type { Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import type { ApiTokens } from './api-tokens.ts';
import { settingsRoutes } from './settings-routes.ts';
import { tokenRoutes } from './token-routes.ts';
import { type UsageGate, usageNowRoutes } from './usage-now-routes.ts';
import { userLimitRoutes } from './user-limit-routes.ts';

/** What the back office sees of the gateway. */
export function gatewayRoutes(runtime: Runtime, tokens: ApiTokens, gate: UsageGate): Route[] {
  return [
    ...settingsRoutes(runtime),
    ...tokenRoutes(runtime, tokens),
    ...userLimitRoutes(runtime, tokens),
    ...usageNowRoutes(runtime, tokens, gate),
  ];
}
