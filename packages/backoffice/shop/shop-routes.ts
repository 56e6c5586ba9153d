import type { Locale } from '@tradepost/core';
import { defineRoute, fileUrls, id, type Route, url } from '@tradepost/http';
import { selectOwner } from '@tradepost/identity';
import { decorationStatuses, type ShopDecoration } from '@tradepost/module';
import type { Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { siteSettings } from '../settings.ts';
import { siteKeys } from '../site/site-keys.ts';

/** One installation is one shop. */
const shopId = 1;

const shopView = z
  .object({
    id: id(),
    name: z.string().meta({ examples: ['Tradepost'] }),
    logo: url().meta({ description: 'empty when there is no logo' }),
    owner: z.string().meta({ description: 'the first administrator with all permissions', examples: ['admin'] }),
    decor_status: z.enum(decorationStatuses).meta({
      description: 'published: shoppers see a designed page; draft: none of the pages is published; none: no pages',
      examples: ['published'],
    }),
  })
  .meta({ id: 'CurrentShop' });

/** The name of the shop for readers of a language. */
export const shopName = (settings: Pick<Runtime['settings'], 'get'>, locale: Locale): string =>
  settings.get(siteSettings.shop_name) ?? siteKeys.shop_name.fallback[locale];

async function currentShop(runtime: Runtime, decoration: ShopDecoration | undefined, request: Request, locale: Locale) {
  const { sql, settings, config } = runtime;
  const name = shopName(settings, locale);
  const logo = settings.get(siteSettings.site_logo) ?? siteKeys.site_logo.fallback[locale];
  const [owner, decor_status] = await Promise.all([selectOwner(sql), decoration?.status(sql) ?? ('none' as const)]);
  return { id: shopId, name, logo: fileUrls(request, config).absolute(logo), owner, decor_status };
}

export function shopRoutes(runtime: Runtime, decoration: ShopDecoration | undefined): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/shops/current',
      auth: 'staff',
      tag: 'Back office',
      summary: 'The shop: name, logo, owner and whether it has designed pages',
      response: shopView,
      statements: decoration ? 2 : 1,
      handle: ({ request, locale }) => currentShop(runtime, decoration, request, locale),
    }),
  ];
}
