import type { Localized } from '@tradepost/core';
import { isCssColour } from '@tradepost/core';

/** A path of this shop or an http(s) address, never a script. */
const isLink = (value: string) => value === '' || /^(\/(?!\/)|https?:\/\/)[^\s"'<>\\]*$/i.test(value);

/** The checks of a text beyond its length. */
const rules = {
  link: isLink,
  colour: (value: string) => value === '' || isCssColour(value),
  phone: (value: string) => /^[\d\s+\-()#*,.x]*$/.test(value),
} as const;
type SiteRule = keyof typeof rules;

export type SiteKey = {
  max: number;
  rule?: SiteRule;
  fallback: Localized;
  about: string;
  emptyIsDefault: boolean;
  example: string;
};

export const keeps = (key: SiteKey, value: string) => !key.rule || rules[key.rule](value);

const words = (max: number, about: string, en: string, zh = en): SiteKey => ({
  max,
  fallback: { en, 'zh-CN': zh },
  about,
  emptyIsDefault: false,
  example: en,
});
/** The name must not be empty. */
const name = (max: number, about: string, en: string, zh: string): SiteKey => ({
  ...words(max, about, en, zh),
  emptyIsDefault: true,
});
const link = (about: string, fallback: string): SiteKey => ({ ...words(500, about, fallback), rule: 'link' });
/** A page without a colour is not readable, so an empty value means the default. */
const colour = (about: string, fallback: string): SiteKey => ({
  ...words(80, about, fallback),
  rule: 'colour',
  emptyIsDefault: true,
});

/** The appearance of the shop. Clients read and write it as one flat object. */
const keys = {
  site_name: name(60, 'name of the site', 'Tradepost', 'Tradepost 商城'),
  site_logo: link('picture beside the name', ''),
  seo_title: words(120, 'title for search engines', 'Tradepost - online shop', 'Tradepost 商城 - 网上购物'),
  seo_keywords: words(300, 'keywords for search engines', 'shop, online shop', '商城,网上购物'),
  seo_description: words(500, 'description for search engines', 'Good things, sent quickly.', '好物精选，快速发货。'),
  icp: words(80, 'registration number in the footer', ''),
  hero_badge: words(60, 'small text above the title of the home page', 'New in', '新品上市'),
  hero_title: words(120, 'title of the home page', 'Good things for every day', '为日常精选好物'),
  hero_subtitle: words(
    300,
    'text below the title of the home page',
    'Chosen with care, sent quickly.',
    '用心挑选，快速送达。',
  ),
  hero_btn_text: words(40, 'button of the home page', 'Shop now', '立即选购'),
  hero_btn_link: link('where the button of the home page leads', '/products'),
  color_primary: colour('main colour', '#1f6feb'),
  color_primary_light: colour('lighter main colour', '#5b97f5'),
  color_primary_dark: colour('darker main colour', '#174ea6'),
  color_bg_page: colour('background of pages', '#f6f7f9'),
  color_bg_header: colour('background of the header', '#ffffff'),
  color_bg_footer: colour('background of the footer', '#f9fafb'),
  color_price: colour('prices', '#d9342b'),
  color_hero_from: colour('where the gradient of the home page begins', '#1f6feb'),
  color_hero_to: colour('where the gradient of the home page ends', '#6d4aff'),
  shop_name: name(60, 'name of the shop', 'Tradepost', 'Tradepost 商城'),
  service_phone: { ...words(40, 'phone number of customer service', ''), rule: 'phone', example: '400-123-4567' },
} as const satisfies Record<string, SiteKey>;

export type SiteKeyName = keyof typeof keys;
export const siteKeys: Record<SiteKeyName, SiteKey> = keys;
export const siteKeyNames = Object.keys(keys) as SiteKeyName[];
