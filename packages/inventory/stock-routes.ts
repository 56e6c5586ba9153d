import type { Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import type { WarehouseHooks } from './document-hooks.ts';

export function stockRoutes(_runtime: Runtime, _hooks: WarehouseHooks): Route[] {
  return [];
}
