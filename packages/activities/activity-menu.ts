import type { MenuEntry, MenuTitle } from '@tradepost/module';
import type { ActivityKind } from './activity-kinds.ts';

/** The texts of a kind in the menus, and its place in them. */
export type ActivityMenu = {
  readonly menu: MenuTitle;
  readonly activities: MenuTitle;
  readonly products: MenuTitle;
  /** The place of the kind among the kinds, from 0. */
  readonly place: number;
};

const camelCase = (path: string) => path.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The console has two families of pages for a kind of activity. The first one is in the menu of marketing. */
export function activityMenu({ path }: Pick<ActivityKind, 'path'>, texts: ActivityMenu): readonly MenuEntry[] {
  const key = camelCase(path);
  const [activities, products] = [`GET /${path}/activities`, `GET /${path}/products`];
  const first = 20 + 20 * texts.place;
  return [
    {
      path: '/marketing',
      pages: [
        {
          path: `/marketing/${path}/activity`,
          needs: activities,
          sort: first,
          title: { ...texts.activities, key: `menu.marketing.${key}Activity` },
        },
        {
          path: `/marketing/${path}/product`,
          needs: products,
          sort: first + 10,
          title: { ...texts.products, key: `menu.marketing.${key}Product` },
        },
      ],
    },
    {
      path: `/${path}`,
      group: 'marketing',
      title: { ...texts.menu, key: `menu.${key}` },
      icon: 'tag',
      sort: 35 + texts.place,
      pages: [
        {
          path: `/${path}/activities`,
          needs: activities,
          sort: 10,
          title: { en: 'Activities', 'zh-CN': '活动', key: `menu.${key}Activities` },
        },
        {
          path: `/${path}/products`,
          needs: products,
          sort: 20,
          title: { en: 'Products', 'zh-CN': '商品', key: `menu.${key}Products` },
        },
      ],
    },
  ];
}
