import { shopName } from '@tradepost/backoffice';
import { requestLocale } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { modulesOf } from '../modules.ts';
import { version } from '../version.ts';
import { homePage, homePolicy } from './home-page.ts';

/** Answers `/` for browsers. In production the page only says that this is an API. */
export function openHome(runtime: Runtime): (request: Request) => Promise<Response> {
  const { config, parts, settings } = runtime;
  const hasName = modulesOf(config).some(({ name }) => name === 'backoffice');
  return async (request) => {
    const locale = requestLocale(request, new URL(request.url).searchParams.get('lang'), settings);
    const shop = config.production
      ? null
      : { name: hasName ? shopName(settings, locale) : 'Tradepost', version, parts: await parts.check() };
    return new Response(homePage({ locale, shop, hasReference: config.publicDocs }), {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': homePolicy,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        vary: 'Accept, Accept-Language',
      },
    });
  };
}
