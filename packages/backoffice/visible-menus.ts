import type { Locale } from '@tradepost/core';
import type { Route } from '@tradepost/http';
import type { MenuTitle } from '@tradepost/module';
import { dashboard } from './menu-groups.ts';
import type { MenuTree } from './menu-tree.ts';

const prefix = '/admin/api';

/** The endpoints of the back office with the permission of each. Parameters are written as `:`. */
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

/** Path and title of a menu or page, with title_key when the console has a translation. */
const entryOf = ({ path, title }: { path: string; title: MenuTitle }, locale: Locale) => ({
  path,
  title: title[locale],
  ...(title.key ? { title_key: title.key } : {}),
});

/**
 * The menus of an administrator: pages whose endpoint is served and that the administrator may use. A module that is
 * switched off therefore has no menu. Groups and menus without a page are left out.
 */
export function menusFor(tree: MenuTree, routes: readonly Route[], perms: readonly string[], locale: Locale) {
  const served = permissionsOf(routes);
  const open = (needs: string) => {
    if (!served.has(needs)) return false;
    const permission = served.get(needs);
    return permission === undefined || perms.includes(permission) || perms.includes('*');
  };
  const groups = tree.flatMap(({ menus, title, ...group }) => {
    const shown = menus.flatMap((menu) => {
      const children = menu.pages
        .filter((page) => open(page.needs))
        .map((page) => ({ ...entryOf(page, locale), sort: page.sort }));
      const { icon, sort } = menu;
      return children.length > 0 ? [{ ...entryOf(menu, locale), icon, sort, children }] : [];
    });
    return shown.length > 0 ? [{ ...group, title: title[locale], menus: shown }] : [];
  });
  return { dashboard: { ...dashboard, title: dashboard.title[locale] }, groups };
}
