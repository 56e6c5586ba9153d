import type { Localized } from '@tradepost/core';

/** A title in both languages; `key` is the translation key that the console knows for it (the contract lists them). */
export type MenuTitle = Localized & { readonly key?: string };

/** A page of the console. It is shown where its endpoint is served and the caller may use it. */
export type MenuPage = {
  readonly path: string;
  readonly title: MenuTitle;
  /** Method and path of the endpoint, without `/admin/api`; `:` stands for any parameter. */
  readonly needs: string;
  readonly sort: number;
};

/** A menu of the console: it belongs to one of the groups in `packages/backoffice/menu-groups.ts`. */
export type Menu = {
  readonly path: string;
  readonly group: string;
  readonly title: MenuTitle;
  readonly icon: string;
  readonly sort: number;
};

/** A menu with pages, or pages that a package adds to a menu of another package. */
export type MenuEntry = (Menu | { readonly path: string }) & { readonly pages: readonly MenuPage[] };
