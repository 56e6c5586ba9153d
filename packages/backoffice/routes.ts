import { defineRoute, largeBody, type Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { backofficeErrors } from './errors.ts';
import type { MenuTree } from './menu-tree.ts';
import { menuView, siteSettingsBody, siteSettingsView as siteSettingsSchema } from './schemas.ts';
import { saveSiteSettings, siteSettingsView } from './site/site-settings.ts';
import { menusFor } from './visible-menus.ts';

export function backofficeRoutes(runtime: Runtime, menus: MenuTree, served: () => readonly Route[]): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/menus',
      auth: 'staff',
      tag: 'Back office',
      summary: 'The menus of the console: pages that are served and that the caller may open',
      response: menuView,
      statements: 0,
      handle: ({ caller, locale }) => menusFor(menus, served(), caller.perms, locale),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/site-settings',
      auth: 'public',
      tag: 'Site',
      summary: 'Name, texts and colours of the shop, with defaults for unset values',
      response: siteSettingsSchema,
      statements: 0,
      handle: ({ request, locale }) => siteSettingsView(runtime, request, locale),
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/site-settings',
      auth: 'staff',
      permission: 'system:config',
      tag: 'Back office',
      summary: 'All site settings in force',
      response: siteSettingsSchema,
      statements: 0,
      handle: ({ request, locale }) => siteSettingsView(runtime, request, locale),
    }),
    defineRoute({
      method: 'PUT',
      path: '/admin/api/site-settings',
      bodyLimit: largeBody,
      auth: 'staff',
      permission: 'system:config',
      tag: 'Back office',
      summary: 'Change site settings; absent keys stay unchanged',
      body: siteSettingsBody,
      response: siteSettingsSchema,
      repeat: 'natural',
      // One statement locks, one writes, one reads all settings again, one notifies the other instances.
      statements: 4,
      refuses: [
        backofficeErrors.link,
        backofficeErrors.colour,
        backofficeErrors.phone,
        backofficeErrors.minutes,
        backofficeErrors.fixed_by_file,
        backofficeErrors.no_orders,
      ],
      async handle({ body, request, locale, caller, actor }) {
        await saveSiteSettings(runtime, body, request, { by: `admin:${caller.id}`, actor });
        return siteSettingsView(runtime, request, locale);
      },
    }),
  ];
}
