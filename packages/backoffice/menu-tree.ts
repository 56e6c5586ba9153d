import type { Menu, MenuEntry, MenuPage } from '@tradepost/module';
import { type MenuGroup, menuGroups } from './menu-groups.ts';

type MenuOfPages = Menu & { readonly pages: readonly MenuPage[] };
/** All menus of a shop by group, each list in the order of `sort`. */
export type MenuTree = readonly (MenuGroup & { readonly menus: readonly MenuOfPages[] })[];

const declaresMenu = (entry: MenuEntry): entry is MenuOfPages => 'group' in entry;
const bySort = <T extends { readonly sort: number }>(rows: readonly T[]) => [...rows].sort((a, b) => a.sort - b.sort);

function failOnRepeated(paths: readonly string[]): void {
  const repeated = paths.find((path, index) => paths.indexOf(path) !== index);
  if (repeated) throw new Error(`the menu entry ${repeated} is declared twice`);
}

/**
 * Merges the menu entries of all modules. Pages for a menu that no entry declares are left out, because the module that
 * declares it is switched off. Throws for a path that is declared twice and for a group that does not exist.
 */
export function menuTreeOf(entries: readonly MenuEntry[]): MenuTree {
  const menus = entries.filter(declaresMenu);
  failOnRepeated(menus.map(({ path }) => path));
  failOnRepeated(entries.flatMap(({ pages }) => pages.map(({ path }) => path)));
  const lost = menus.find(({ group }) => !menuGroups.some(({ key }) => key === group));
  if (lost) throw new Error(`the menu ${lost.path} is in the group ${lost.group}, which does not exist`);
  const pagesOf = (path: string) => entries.filter((entry) => entry.path === path).flatMap(({ pages }) => pages);
  return bySort(menuGroups).map((group) => ({
    ...group,
    menus: bySort(menus.filter((menu) => menu.group === group.key)).map((menu) => ({
      ...menu,
      pages: bySort(pagesOf(menu.path)),
    })),
  }));
}
