import { dashboardLists, type Module, shopDecoration } from '@tradepost/module';
import { fileReferences } from '@tradepost/storage';
import { announcementAudits } from './announcements/announcement-audits.ts';
import { announcementRoutes } from './announcements/announcement-routes.ts';
import { dashboardAnnouncements } from './announcements/dashboard-list.ts';
import { announcementsDays, backofficeRetention } from './announcements/retention.ts';
import { announcementDemo } from './announcements/seed-demo-announcements.ts';
import { configRoutes } from './config-centre/config-routes.ts';
import { backofficeMenu } from './menu.ts';
import { menuTreeOf } from './menu-tree.ts';
import { plannedMenu } from './planned-menu.ts';
import { backofficeRoutes } from './routes.ts';
import { backofficeSettings } from './settings.ts';
import { shopRoutes } from './shop/shop-routes.ts';
import { siteFiles } from './site/file-references.ts';
import { backofficeInChangeLog, backofficeTables } from './tables.ts';

export const backofficeModule: Module = {
  name: 'backoffice',
  tables: backofficeTables,
  changeLog: backofficeInChangeLog,
  settings: [...backofficeSettings, announcementsDays],
  entries: [fileReferences.add(siteFiles), dashboardLists.add(dashboardAnnouncements)],
  menu: [...backofficeMenu, ...plannedMenu],
  audits: announcementAudits,
  retention: backofficeRetention,
  seedDemo: announcementDemo,
  open({ runtime, modules, routes, entries }) {
    const menus = menuTreeOf(modules.flatMap(({ menu }) => menu ?? []));
    const [decoration] = entries(shopDecoration);
    return {
      routes: () => [
        ...backofficeRoutes(runtime, menus, routes),
        ...shopRoutes(runtime, decoration),
        ...announcementRoutes(runtime),
        ...configRoutes(runtime),
      ],
    };
  },
};
