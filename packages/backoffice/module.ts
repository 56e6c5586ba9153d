import type { Module } from '@tradepost/module';
import { backofficeRoutes } from './routes.ts';
import { backofficeSettings } from './settings.ts';

export const backofficeModule: Module = {
  name: 'backoffice',
  settings: backofficeSettings,
  open: ({ runtime, routes }) => ({ routes: () => backofficeRoutes(runtime, routes) }),
};
