/** The channels, devices and pages by which visits are counted. */
export const channels = ['direct', 'search', 'social', 'campaign', 'referral'] as const;
export const devices = ['desktop', 'mobile', 'tablet', 'other'] as const;
export const pages = ['home', 'list', 'product', 'cart', 'other'] as const;
export type Channel = (typeof channels)[number];
export type Device = (typeof devices)[number];
export type PageKind = (typeof pages)[number];

const bot =
  /bot|crawl|spider|slurp|headless|lighthouse|preview|monitor|scan|fetch|scrap|python|curl|wget|java\/|go-http|okhttp|axios|node|phantom|puppeteer|playwright/i;
const searchHosts =
  /(?:^|\.)(?:google|bing|baidu|sogou|so|sm|yahoo|duckduckgo|yandex|ecosia|qwant|naver)\.(?:com|cn|co|net|org|[a-z]{2})(?:\.[a-z]{2})?$/;
const socialHosts =
  /(?:^|\.)(?:weixin\.qq\.com|weibo\.(?:com|cn)|xiaohongshu\.com|douyin\.com|zhihu\.com|qq\.com|facebook\.com|instagram\.com|twitter\.com|x\.com|t\.co|pinterest\.com|reddit\.com|linkedin\.com|tiktok\.com|youtube\.com|telegram\.org|t\.me)$/;

/** Whether a program and not a person has sent the request. Only obvious ones are found. */
export const isBot = (userAgent: string): boolean => userAgent === '' || bot.test(userAgent);

function hostOf(address: string): string {
  try {
    return new URL(address).hostname.toLowerCase();
  } catch {
    return '';
  }
}

/** The channel by which a visitor has come. A referrer of the shop itself is not a channel. */
export function channelOf(visit: { referrer: string; campaign: string; ownHost: string }): Channel {
  if (visit.campaign !== '') return 'campaign';
  const host = hostOf(visit.referrer);
  if (host === '' || host === visit.ownHost) return 'direct';
  if (searchHosts.test(host)) return 'search';
  return socialHosts.test(host) ? 'social' : 'referral';
}

export function deviceOf(userAgent: string): Device {
  if (/ipad|tablet|android(?!.*mobile)/i.test(userAgent)) return 'tablet';
  if (/mobi|iphone|ipod|android|micromessenger/i.test(userAgent)) return 'mobile';
  return /windows|macintosh|linux|cros|x11/i.test(userAgent) ? 'desktop' : 'other';
}

/** The kind of a page by its path, for the storefronts of the contract. */
export function pageOf(path: string): PageKind {
  const route = path
    .toLowerCase()
    // H5 clients have the route behind `#/`. Another `#` is a place on the page.
    .replace(/^[^#]*#(?=\/)/, '')
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '');
  if (route === '' || /^\/(?:pages\/)?(?:home|index)(?:\/index)?$/.test(route)) return 'home';
  if (/cart|checkout|order\/confirm/.test(route)) return 'cart';
  if (/(?:product|goods|item)s?\/(?:\d+|detail)/.test(route)) return 'product';
  return /product|goods|categor|search|list/.test(route) ? 'list' : 'other';
}
