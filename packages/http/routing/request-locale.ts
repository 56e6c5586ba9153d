import { type Locale, negotiateLocale } from '@tradepost/core';
import { acceptLanguage, type Runtime, shopLocale } from '@tradepost/runtime';

/**
 * The language of an answer, the same for all of its texts: `?lang=`, then Accept-Language unless the shop has turned
 * that off (`shop.accept_language`), then the shop's (`shop.locale`).
 */
export function requestLocale(
  request: Request,
  lang: string | null | undefined,
  settings: Runtime['settings'],
): Locale {
  const accepted = settings.get(acceptLanguage) ? request.headers.get('accept-language') : null;
  return negotiateLocale(lang, accepted, settings.get(shopLocale));
}
