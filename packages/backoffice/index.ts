import type { Module, Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { backofficeRoutes } from './routes.ts';

export { backofficeSettings } from './settings.ts';

/** `served` answers the routes of all modules: what is served decides which menus there are. */
export function backofficeModule(runtime: Runtime, served: () => readonly Route[]): Module {
  return { name: 'backoffice', routes: backofficeRoutes(runtime, served) };
}
