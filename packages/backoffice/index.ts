import type { Module, Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';

export { backofficeSettings } from './settings.ts';

/** `routes` answers the routes of all modules: what is served decides which menus there are. */
export function backofficeModule(_runtime: Runtime, _routes: () => readonly Route[]): Module {
  return { name: 'backoffice', routes: [] };
}
