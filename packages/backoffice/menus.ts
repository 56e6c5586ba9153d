import type { Locale, Localized } from '@tradepost/core';
import type { Route } from '@tradepost/http';
import { dashboard, menuGroups } from './menu-table.ts';
import { menuTitleKeys } from './menu-title-keys.ts';

const prefix = '/admin/api';

/** The endpoints of the back office and the permission each asks for; parameters go by `:` alone. */
function permissionsOf(routes: readonly Route[]): Map<string, string | undefined> {
  return new Map(
    routes
      .filter((route) => route.auth === 'staff' && route.path.startsWith(`${prefix}/`))
      .map((route) => [
        `${route.method} ${route.path.slice(prefix.length).replaceAll(/:\w+/g, ':')}`,
        route.permission,
      ]),
  );
}

/** Title, title_key where the console has one, and path of a menu or page. */
function entryOf({ path, title }: { path: string; title: Localized }, locale: Locale) {
  const titleKey = menuTitleKeys.get(path);
  return { path, title: title[locale], ...(titleKey ? { title_key: titleKey } : {}) };
}

/**
 * What an administrator finds in the console: pages whose endpoint is served and would let them in. So a module that is
 * switched off has no menu, and a new one appears by itself. Groups and menus without a page are left out.
 */
export function menusFor(routes: readonly Route[], perms: readonly string[], locale: Locale) {
  const served = permissionsOf(routes);
  const open = (needs: string) => {
    if (!served.has(needs)) return false;
    const permission = served.get(needs);
    return permission === undefined || perms.includes(permission) || perms.includes('*');
  };
  const groups = menuGroups.flatMap(({ menus, title, ...group }) => {
    const shown = menus.flatMap((menu) => {
      const children = menu.children
        // The position in the whole table, so that a page keeps its sort whatever else the caller may open.
        .map((child, index) => ({ ...entryOf(child, locale), sort: (index + 1) * 10, needs: child.needs }))
        .filter((child) => open(child.needs))
        .map(({ needs: _needs, ...child }) => child);
      const { icon, sort } = menu;
      return children.length > 0 ? [{ ...entryOf(menu, locale), icon, sort, children }] : [];
    });
    return shown.length > 0 ? [{ ...group, title: title[locale], menus: shown }] : [];
  });
  return { dashboard: { ...dashboard, title: dashboard.title[locale] }, groups };
}
