import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@tradepost/app';
import { loadConfig, openLog } from '@tradepost/runtime';
import { call } from '@tradepost/testing/client';
import { chinese, contract, expectFields } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Menus of the console, and site settings of back office and storefront. */
let shop: Shop;
let token: string;
beforeAll(async () => {
  shop = await openShop();
  token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
});
afterAll(() => shop?.close());

const admin = (method: string, path: string, body?: object, lang?: string) =>
  shop.call(method, `/admin/api${path}`, { token, body, ...(lang ? { lang } : {}) });
const site = async (lang = 'en') => (await shop.call('GET', '/api/v1/site-settings', { lang })).data;

describe('menus', () => {
  type Group = { key: string; menus: { path: string; children: { path: string }[] }[] };
  const pages = (groups: Group[]) => groups.flatMap((g) => g.menus.flatMap((m) => m.children.map((c) => c.path)));

  test('have every field of the contract, and list the pages that this shop serves', async () => {
    const { data } = await admin('GET', '/menus');
    expectFields(data.dashboard, contract.menuDashboard);
    for (const group of data.groups) {
      expectFields(group, contract.menuGroup);
      expect(group.menus.length).toBeGreaterThan(0);
      for (const menu of group.menus) {
        expectFields(menu, contract.menu);
        expect(menu.children.length).toBeGreaterThan(0);
        for (const child of menu.children) expectFields(child, contract.menuPage);
      }
    }
    expect(pages(data.groups)).toEqual(expect.arrayContaining(['/product/list', '/order/list', '/system/site']));
  });

  test('an administrator sees only what they may open', async () => {
    const seen = async (perms: string[]) => {
      const mine = await shop.server.tokens.issue({ role: 'admin', id: 1, perms });
      return pages((await shop.call('GET', '/admin/api/menus', { token: mine })).data.groups);
    };
    expect(await seen(['order:view'])).toContain('/order/list');
    expect(await seen(['order:view'])).not.toContain('/product/list');
    expect(await seen(['product:view'])).not.toContain('/product/form');
    expect(await seen([])).not.toContain('/system/site');
  });

  test('titles are in the language of the request', async () => {
    const { data } = await admin('GET', '/menus', undefined, 'zh-CN');
    expect(data.dashboard.title).toMatch(chinese);
    for (const group of data.groups) expect(group.title).toMatch(chinese);
  });
});

/** The bodies of the console's form and of the merchant app. */
const consoleKeys = {
  site_name: 'Harbour Goods',
  site_logo: '/uploads/2026/logo.png',
  seo_title: 'Harbour Goods - quay side shop',
  seo_keywords: 'harbour, goods',
  seo_description: '',
  icp: 'ICP 12345',
  color_primary: '#0A7',
  color_primary_light: 'rgb(10, 170, 120)',
  color_primary_dark: 'hsl(160 90% 20% / 80%)',
  color_bg_page: 'whitesmoke',
  color_bg_header: '#FFFFFFff',
  color_bg_footer: 'oklch(40% 0.1 200)',
  color_price: 'Tomato',
  color_hero_from: 'rgba(0,0,0,.5)',
  color_hero_to: 'transparent',
};

describe('site settings', () => {
  test('in a new shop every key has a value, in the language of the request', async () => {
    expectFields(await site(), contract.siteSettings);
    const [english, inChinese] = [await site('en'), await site('zh-CN')];
    expect(english.hero_title).not.toMatch(chinese);
    expect(inChinese.hero_title).toMatch(chinese);
    expect(inChinese.shop_name).toMatch(chinese);
    expect(english.color_primary).toMatch(/^#/);
    expect(english.order_auto_cancel_minutes).toBe(15);
    // The storefront writes dark text on this colour.
    expect(english.color_bg_footer).toBe('#f9fafb');
  });

  test('keys that the console and the merchant app save are merged, and the storefront shows the result', async () => {
    const logo = `${shop.url}/uploads/2026/logo.png`;
    expect(await admin('PUT', '/site-settings', { ...consoleKeys, site_logo: logo })).toMatchObject({ code: 0 });
    const merchant = { shop_name: 'Harbour', service_phone: '400-123-4567', order_auto_cancel_minutes: 30 };
    expect(await admin('PUT', '/site-settings', { ...merchant, id: 1, unknown_key: { a: 1 } })).toMatchObject({
      code: 0,
    });
    const { data } = await admin('GET', '/site-settings');
    expectFields(data, contract.siteSettings);
    expect(data).toMatchObject({ ...consoleKeys, ...merchant, site_logo: logo });
    expect(data).not.toHaveProperty('unknown_key');
    expect(await site()).toEqual(data);
    const [row] = await shop.database.sql`select value from runtime.settings where key = 'site.site_logo'`;
    expect(row!.value, 'a shop that moves keeps its logo').toBe('/uploads/2026/logo.png');
  });

  test('order_auto_cancel_minutes sets the time to pay; it may be text, and an empty value changes nothing', async () => {
    for (const [sent, minutes] of [
      [45, 45],
      ['50', 50],
      ['', 50],
      [null, 50],
    ] as const) {
      expect(await admin('PUT', '/site-settings', { order_auto_cancel_minutes: sent })).toMatchObject({ code: 0 });
      const ann = await shop.shopper();
      const { sku_ids } = await insertProduct(shop.database);
      const { data } = await shop.call('POST', '/api/v1/orders', {
        token: ann.token,
        body: { address_id: ann.address_id, items: [{ sku_id: sku_ids[0] }] },
      });
      const [row] = await shop.database.sql`
        select extract(epoch from expires_at - created_at)::int / 60 as minutes from orders.orders where id = ${data.id}`;
      expect(row!.minutes).toBe(minutes);
    }
  });

  test.each([
    ['color_price', 'red; background: url(//evil)'],
    ['color_primary', 'url(javascript:1)'],
    ['color_primary', 'expression(alert(1))'],
    ['color_bg_page', '#12'],
    ['site_logo', 'javascript:alert(1)'],
    ['site_logo', '//evil.example/a.png'],
    ['hero_btn_link', 'data:text/html,x'],
    ['site_name', 'x'.repeat(61)],
    ['service_phone', '<b>1</b>'],
    ['order_auto_cancel_minutes', 0],
    ['order_auto_cancel_minutes', '10081'],
    ['order_auto_cancel_minutes', 'soon'],
    ['order_auto_cancel_minutes', 1.5],
    ['shop_name', 5],
  ])('%s = %j is refused by name, and nothing of the form is stored', async (field, value) => {
    const before = await site();
    const answer = await admin('PUT', '/site-settings', { icp: 'changed', [field]: value });
    expect(answer).toMatchObject({ status: 200, code: 400, message: expect.stringContaining(field) });
    expect((await admin('PUT', '/site-settings', { [field]: value }, 'zh-CN')).message).toMatch(chinese);
    expect(await site()).toEqual(before);
  });

  test('a form that is sent back unchanged does not store the default texts of its language', async () => {
    await shop.database.sql`delete from runtime.settings where key like 'site.%'`;
    await shop.server.runtime.settings.set('site.icp', 'kept');
    const { data } = await admin('GET', '/site-settings', undefined, 'en');
    expect(await admin('PUT', '/site-settings', data)).toMatchObject({ code: 0 });
    expect((await site('zh-CN')).hero_title).toMatch(chinese);
    expect((await site('en')).hero_title).not.toMatch(chinese);
    expect((await site()).icp).toBe('kept');
    // An emptied name or colour becomes the default again. Other texts may be empty.
    await admin('PUT', '/site-settings', { site_name: 'Mine', color_price: 'red', hero_badge: 'Sale' });
    await admin('PUT', '/site-settings', { site_name: '', color_price: '', hero_badge: '' });
    expect(await site()).toMatchObject({ site_name: data.site_name, color_price: data.color_price, hero_badge: '' });
  });

  test('when different keys are saved at the same time, all are stored', async () => {
    await Promise.all(
      ['hero_title', 'hero_subtitle', 'hero_badge', 'icp', 'seo_title', 'seo_keywords'].map((key) =>
        admin('PUT', '/site-settings', { [key]: `new ${key}` }),
      ),
    );
    expect(await site()).toMatchObject({
      hero_title: 'new hero_title',
      icp: 'new icp',
      seo_keywords: 'new seo_keywords',
    });
  });

  test('the back office needs system:config; the storefront needs no token', async () => {
    const clerk = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['order:view'] });
    for (const method of ['GET', 'PUT'])
      expect(
        await shop.call(method, '/admin/api/site-settings', {
          token: clerk,
          ...(method === 'PUT' ? { body: {} } : {}),
        }),
      ).toMatchObject({ code: 403 });
    expect(await shop.call('GET', '/api/v1/site-settings')).toMatchObject({ status: 200, code: 0 });
  });

  test('changes reach both instances, except keys that the configuration file of an instance sets', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tradepost-site-'));
    const file = join(folder, 'shop.json');
    await writeFile(file, JSON.stringify({ settings: { 'orders.unpaid_minutes': 20, 'site.shop_name': 'Fixed' } }));
    const { config } = loadConfig({
      env: {},
      file,
      flags: { databaseUrl: shop.database.url, data: folder, port: 0, seed: 'none', only: 'api', databasePool: 4 },
    });
    const second = await startServer({ config, log: openLog({ level: 'silent' }) });
    try {
      const there = (method: string, path: string, body?: object, lang = 'en') =>
        call(second.transport!.url, second.routes, method, path, { token, body, lang });
      expect((await there('GET', '/api/v1/site-settings')).data).toMatchObject({
        order_auto_cancel_minutes: 20,
        shop_name: 'Fixed',
      });
      for (const lang of ['en', 'zh-CN'])
        expect(
          await there('PUT', '/admin/api/site-settings', { icp: 'x', order_auto_cancel_minutes: 25 }, lang),
        ).toMatchObject({ code: 409, message: expect.stringContaining('order_auto_cancel_minutes') });
      // The whole form can be saved when a fixed value is unchanged.
      expect(
        await there('PUT', '/admin/api/site-settings', {
          icp: 'from there',
          order_auto_cancel_minutes: 20,
          shop_name: 'Fixed',
        }),
      ).toMatchObject({ code: 0 });
      await expect.poll(async () => (await site()).icp, { timeout: 5_000 }).toBe('from there');
      await admin('PUT', '/site-settings', { icp: 'from here' });
      await expect
        .poll(async () => (await there('GET', '/api/v1/site-settings')).data.icp, { timeout: 5_000 })
        .toBe('from here');
    } finally {
      await second.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
