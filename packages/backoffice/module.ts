import type { Module } from '@tradepost/module';
import { fileReferences } from '@tradepost/storage';
import { siteFiles } from './file-references.ts';
import { backofficeMenu } from './menu.ts';
import { menuTreeOf } from './menu-tree.ts';
import { plannedMenu } from './planned-menu.ts';
import { backofficeRoutes } from './routes.ts';
import { backofficeSettings } from './settings.ts';

export const backofficeModule: Module = {
  name: 'backoffice',
  settings: backofficeSettings,
  entries: [fileReferences.add(siteFiles)],
  menu: [...backofficeMenu, ...plannedMenu],
  open({ runtime, modules, routes }) {
    const menus = menuTreeOf(modules.flatMap(({ menu }) => menu ?? []));
    return { routes: () => backofficeRoutes(runtime, menus, routes) };
  },
};
