import type { Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';

export function movementRoutes(_runtime: Runtime): Route[] {
  return [];
}
