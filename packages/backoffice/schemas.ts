import { list, text } from '@tradepost/http';
import { z } from 'zod';
import { type SiteKeyName, siteKeyNames, siteKeys } from './site/site-keys.ts';

const title = () => z.string().meta({ examples: ['Orders'] });
const path = () => z.string().meta({ examples: ['/order/list'] });
const icon = () => z.string().meta({ examples: ['shopping-cart'] });
const sort = () => z.int().meta({ examples: [20] });
const titleKey = () =>
  z
    .string()
    .optional()
    .meta({ description: 'a key that the console translates', examples: ['menu.wms.stock'] });

/** The largest number of entries on one level. The menus are a fixed table. */
const maxMenus = 50;
export const menuView = z
  .object({
    dashboard: z.object({ title: title(), path: path() }),
    groups: list(
      z.object({
        key: z.string().meta({ examples: ['order'] }),
        title: title(),
        icon: icon(),
        sort: sort(),
        menus: list(
          z.object({
            title: title(),
            title_key: titleKey(),
            icon: icon(),
            path: path(),
            sort: sort(),
            children: list(z.object({ title: title(), title_key: titleKey(), path: path(), sort: sort() }), maxMenus),
          }),
          maxMenus,
        ),
      }),
      maxMenus,
    ),
  })
  .meta({ id: 'AdminMenu' });

type Shape<S extends z.ZodType> = Record<SiteKeyName, S>;
const shapeOf = <S extends z.ZodType>(of: (key: SiteKeyName) => S) =>
  Object.fromEntries(siteKeyNames.map((key) => [key, of(key)])) as Shape<S>;

export const siteSettingsBody = z.object({
  ...shapeOf((key) =>
    text(siteKeys[key].max)
      .trim()
      .optional()
      .meta({ description: siteKeys[key].about, examples: [siteKeys[key].example] }),
  ),
  order_auto_cancel_minutes: z
    .union([z.number(), text(20)])
    .optional()
    .meta({
      description:
        'minutes after which an unpaid order is cancelled, also as text; the setting orders.unpaid_minutes; empty = as it is',
      examples: [30],
    }),
});

export const siteSettingsView = z
  .object({
    ...shapeOf((key) => z.string().meta({ description: siteKeys[key].about, examples: [siteKeys[key].example] })),
    order_auto_cancel_minutes: z
      .int()
      .optional()
      .meta({ examples: [30] }),
  })
  .meta({ id: 'SiteSettings' });
