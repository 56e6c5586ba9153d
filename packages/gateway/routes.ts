import type { Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { settingsRoutes } from './limits/settings-routes.ts';
import { userLimitRoutes } from './limits/user-limit-routes.ts';
import type { ApiTokens } from './tokens/api-tokens.ts';
import { tokenRoutes } from './tokens/token-routes.ts';
import { currentUsageRoutes, type UsageGate } from './usage/current-usage-routes.ts';

/** The routes of the back office for settings, tokens, limits and current usage. */
export function gatewayRoutes(runtime: Runtime, tokens: ApiTokens, gate: UsageGate): Route[] {
  return [
    ...settingsRoutes(runtime),
    ...tokenRoutes(runtime, tokens),
    ...userLimitRoutes(runtime, tokens),
    ...currentUsageRoutes(runtime, tokens, gate),
  ];
}
