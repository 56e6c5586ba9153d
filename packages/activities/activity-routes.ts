import type { Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import type { ActivityKind } from './activity-kinds.ts';
import { adminRoutes } from './back-office/admin-routes.ts';
import { storefrontRoutes } from './storefront/storefront-routes.ts';

/** The routes that all kinds have, for this kind: storefront and back office. The package of the kind returns them. */
export const activityRoutes = (runtime: Runtime, kind: ActivityKind): Route[] => [
  ...storefrontRoutes(runtime, kind),
  ...adminRoutes(runtime, kind),
];
