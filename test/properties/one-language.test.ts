import type { Route } from '@tradepost/http';
import { chinese } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** An answer is in one language: where a translation exists, a Chinese answer has no English text. */
let shop: Shop;
let shopper: string;
let staff: string;
let orderId: number;
beforeAll(async () => {
  shop = await openShop({ seed: 'demo' });
  shopper = await shop.login('demo', 'demo123456');
  staff = await shop.login('admin', 'admin123');
  const { data: addresses } = await shop.call('GET', '/api/v1/addresses', { token: shopper });
  const { data: found } = await shop.call('GET', '/api/v1/products?size=1', { token: shopper });
  const { data: product } = await shop.call('GET', `/api/v1/products/${found.list[0].id}`);
  await shop.call('POST', '/api/v1/cart/add', { token: shopper, body: { sku_id: product.skus[0].id } });
  await shop.call('POST', `/api/v1/products/${product.id}/favorite`, { token: shopper });
  const { data: order } = await shop.call('POST', '/api/v1/orders', {
    token: shopper,
    lang: 'en',
    body: { address_id: addresses[0].id, items: [{ sku_id: product.skus[1]?.id ?? product.skus[0].id }] },
  });
  orderId = order.id;
  await shop.call('POST', `/api/v1/orders/${orderId}/pay`, { token: shopper });
  await shop.call('PUT', `/admin/api/orders/${orderId}/ship`, {
    token: staff,
    body: { company: 'SF', tracking_no: 'SF1' },
  });
});
afterAll(() => shop?.close());

/**
 * Fields that are deliberately not in the language of the request: keys and codes, texts of users, order lines (the texts that
 * the buyer saw), translations, and designed pages, which have one language.
 */
const untranslated = new Set([
  'sku_key',
  'translations',
  'items',
  'options',
  'address_snapshot',
  'nickname',
  'user_nickname',
  'spec_schema',
  'components',
]);
/** Forms of the back office. They edit texts in the language of the shop, whatever the language of the request. */
const forms = new Set(['/admin/api/products/:id', '/admin/api/categories', '/admin/api/categories/tree']);

type Leaf = { at: string; text: string };
function leavesOf(value: unknown, at = ''): Leaf[] {
  if (typeof value === 'string') {
    // On the storefront the attributes of a SKU are a JSON text.
    if (/^\[\{"name":/.test(value)) return leavesOf(JSON.parse(value), at);
    return value === '' ? [] : [{ at, text: value }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => (untranslated.has(key) ? [] : leavesOf(part, `${at}.${key}`)));
}

/** In the editor the specification texts of a SKU are its key, so they are not translated. */
const isKey = (path: string, at: string) => path === '/admin/api/products/:id' && /^\.skus\.\d+\.attrs/.test(at);

/** The texts of the answers of all GET routes. Routes that refuse (there is no such object here) are left out. */
async function answers(lang: string): Promise<Map<string, Leaf[]>> {
  const found = new Map<string, Leaf[]>();
  const gets = shop.server.routes.filter((route) => route.method === 'GET' && !/gateway|settings\//.test(route.path));
  for (const route of gets) {
    const answer = await shop.call('GET', pathOf(route), { token: tokenOf(route), lang });
    if (answer.code === 0) found.set(route.path, leavesOf(answer.data));
  }
  return found;
}
const tokenOf = (route: Route) => (route.auth === 'staff' ? staff : route.auth === 'public' ? '' : shopper);
const pathOf = ({ path }: Route) =>
  path.replace(/:\w+/g, (name) => String(path.includes('orders') && name === ':id' ? orderId : 1)) +
  (path.endsWith('/products') ? '?size=100' : '');

describe('all GET routes on the demo shop', () => {
  let english: Map<string, Leaf[]>;
  let inChinese: Map<string, Leaf[]>;
  /** English texts with their Chinese translation, as found in the answers. */
  const pairs = new Map<string, string>();
  beforeAll(async () => {
    english = await answers('en');
    inChinese = await answers('zh-CN');
    for (const [path, leaves] of english) {
      const others = new Map(inChinese.get(path)?.map(({ at, text }) => [at, text]));
      for (const { at, text } of leaves) {
        const other = others.get(at);
        if (other !== undefined && other !== text) pairs.set(text, other);
      }
    }
  });

  test('the demo shop has enough texts to compare', () => {
    expect(english.size).toBeGreaterThan(25);
    expect([...english.keys()].sort()).toEqual([...inChinese.keys()].sort());
    expect(pairs.size).toBeGreaterThan(200);
    for (const path of ['/api/v1/products', '/api/v1/cart', '/api/v1/user/favorites', '/admin/api/products'])
      expect(english.get(path)!.length, path).toBeGreaterThan(3);
  });

  test('an English answer has no Chinese text', () => {
    const wrong = [...english].flatMap(([path, leaves]) =>
      forms.has(path)
        ? []
        : leaves.filter(({ text }) => chinese.test(text)).map(({ at, text }) => `${path} ${at}: ${text}`),
    );
    expect(wrong).toEqual([]);
  });

  test('a Chinese answer has no English text that another answer translates', () => {
    const wrong = [...inChinese].flatMap(([path, leaves]) =>
      leaves
        .filter(
          ({ at, text }) => !isKey(path, at) && text.split(' / ').some((word) => chinese.test(pairs.get(word) ?? '')),
        )
        .map(({ at, text }) => `${path} ${at}: ${text}`),
    );
    expect(wrong).toEqual([]);
  });

  test('a form of the back office is in the language of the shop for every request', () => {
    for (const path of forms) expect(english.get(path), path).toEqual(inChinese.get(path));
  });
});

describe('the language of an answer', () => {
  const messageIn = async (path: string, lang: string) =>
    (await shop.call('GET', path, { lang, token: shopper })).message;
  const missing = '/api/v1/products/999999';

  test('?lang= has precedence over Accept-Language, in messages and texts', async () => {
    expect(await messageIn(`${missing}?lang=zh-CN`, 'en')).toMatch(chinese);
    expect(await messageIn(`${missing}?lang=en`, 'zh-CN')).not.toMatch(chinese);
    const title = async (query: string, lang: string) =>
      (await shop.call('GET', `/api/v1/products?size=1${query}`, { lang })).data.list[0].title;
    expect(await title('&lang=zh-CN', 'en-GB,en;q=0.9')).toMatch(chinese);
    expect(await title('&lang=en', 'zh-CN')).not.toMatch(chinese);
  });

  test('with shop.accept_language off, Accept-Language is ignored: ?lang= or the language of the shop is used', async () => {
    expect(await messageIn(missing, 'en')).not.toMatch(chinese);
    await shop.server.runtime.settings.set('shop.accept_language', false);
    try {
      expect(await messageIn(missing, 'en')).toMatch(chinese);
      expect(await messageIn('/api/v1/nowhere', 'en')).toMatch(chinese);
      expect(await messageIn(`${missing}?lang=en`, 'zh-CN')).not.toMatch(chinese);
      const page = await fetch(`${shop.url}/pay/sandbox/none`, { headers: { 'accept-language': 'en' } });
      expect(await page.text()).toMatch(chinese);
      await shop.server.runtime.settings.set('shop.locale', 'en');
      expect(await messageIn(missing, 'zh-CN')).not.toMatch(chinese);
    } finally {
      await shop.server.runtime.settings.unset('shop.locale');
      await shop.server.runtime.settings.unset('shop.accept_language');
    }
  });

  test('the lines of an order keep the texts that its buyer saw', async () => {
    for (const lang of ['en', 'zh-CN']) {
      const { data } = await shop.call('GET', `/api/v1/orders/${orderId}`, { token: shopper, lang });
      expect(data.items[0].title).not.toMatch(chinese);
    }
  });
});
