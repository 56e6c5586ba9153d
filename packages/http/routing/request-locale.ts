import { type Locale, negotiateLocale } from '@tradepost/core';
import { acceptLanguage, type Runtime, shopLocale } from '@tradepost/runtime';

/**
 * The language of an answer, the same for all of its texts. The first that is present counts: `?lang=`, Accept-Language
 * unless the setting `shop.accept_language` is off, the setting `shop.locale`.
 */
export function requestLocale(
  request: Request,
  lang: string | null | undefined,
  settings: Runtime['settings'],
): Locale {
  const accepted = settings.get(acceptLanguage) ? request.headers.get('accept-language') : null;
  return negotiateLocale(lang, accepted, settings.get(shopLocale));
}
