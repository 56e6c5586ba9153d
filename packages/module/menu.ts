import type { Localized } from '@tradepost/core';

/** A title in both languages. `key` is the translation key of the console. */
export type MenuTitle = Localized & { readonly key?: string };

/** A page of the console. It is shown when its endpoint is served and the caller has the permission for it. */
export type MenuPage = {
  readonly path: string;
  readonly title: MenuTitle;
  /** Method and path of the endpoint, without `/admin/api`. `:` matches any parameter. */
  readonly needs: string;
  readonly sort: number;
};

/** A menu of the console. `packages/backoffice/menu-groups.ts` has the groups. */
export type Menu = {
  readonly path: string;
  readonly group: string;
  readonly title: MenuTitle;
  readonly icon: string;
  readonly sort: number;
};

/** A menu with its pages, or pages that a package adds to a menu of another package. */
export type MenuEntry = (Menu | { readonly path: string }) & { readonly pages: readonly MenuPage[] };
