import { modules } from '@tradepost/app';
import type { Locale } from '@tradepost/core';
import { defineRoute, nothing, type Route } from '@tradepost/http';
import { expect, test } from 'vitest';
import { menuTreeOf } from './menu-tree.ts';
import { menusFor as menusOf } from './visible-menus.ts';

/** The menus of the console and the endpoints that they need. */

const entries = modules.flatMap(({ menu }) => menu ?? []);
const tree = menuTreeOf(entries);
const menusFor = (routes: readonly Route[], perms: readonly string[], locale: Locale) =>
  menusOf(tree, routes, perms, locale);

const route = (method: 'GET' | 'POST', path: string, permission?: string): Route =>
  defineRoute({
    method,
    path: `/admin/api${path}`,
    auth: 'staff',
    ...(permission ? { permission } : {}),
    tag: 'x',
    summary: 'x',
    response: nothing,
    handle: () => null,
  });
/** Every endpoint that a page needs. Parameters have a name where the table has `:`. */
const everything = entries
  .flatMap(({ pages }) => pages.map((page) => page.needs))
  .map((needs) => needs.split(' ') as ['GET' | 'POST', string])
  .map(([method, path]) => route(method, path.replaceAll(/:(?=\/|$)/g, ':anything')));

const pathsOf = (menus: ReturnType<typeof menusFor>) =>
  menus.groups.flatMap((group) => group.menus.flatMap((menu) => menu.children.map((child) => child.path)));

test('when all endpoints are served, the groups, menus and pages of the contract are present in their order', () => {
  const { dashboard, groups } = menusFor(everything, ['*'], 'en');
  expect(dashboard).toEqual({ title: 'Dashboard', path: '/dashboard' });
  expect(groups.map(({ key, sort, icon }) => [key, sort, icon])).toEqual([
    ['product', 10, 'box'],
    ['order', 20, 'shopping-cart'],
    ['user', 30, 'users'],
    ['marketing', 40, 'tag'],
    ['vip', 45, 'award'],
    ['wms', 50, 'warehouse'],
    ['system', 60, 'settings'],
  ]);
  const paths = pathsOf(menusFor(everything, ['*'], 'en'));
  expect(new Set(paths).size).toBe(paths.length);
  const stock = groups.find((group) => group.key === 'wms')!.menus[0]!.children[0]!;
  expect(stock).toEqual({ path: '/wms/stock', title: 'Stock Ledger', title_key: 'menu.wms.stock', sort: 10 });
});

/** The table of the contract: group, path and title of a menu, and its pages in their order. */
const table: [group: string, path: string, title: string, pages: [string, string?][]][] = [
  [
    'product',
    '/product',
    'Products',
    [
      ['/product/list', 'Product List'],
      ['/product/category', 'Categories'],
      ['/product/spec-templates', 'Spec Templates'],
      ['/product/form', 'Add Product'],
    ],
  ],
  ['product', '/review', 'Reviews', [['/review/list', 'Review List']]],
  [
    'product',
    '/decor',
    'Page Designer',
    [
      ['/decor/index', 'Mobile'],
      ['/decor/pc', 'PC'],
    ],
  ],
  [
    'order',
    '/order',
    'Orders',
    [
      ['/order/list', 'Order List'],
      ['/order/after-sale/list', 'After-Sale'],
    ],
  ],
  ['user', '/im', 'Customer Service', [['/im/sessions'], ['/im/analytics'], ['/im/logs'], ['/im/knowledge']]],
  [
    'user',
    '/message',
    'Messages',
    [
      ['/message/list', 'Message List'],
      ['/message/send', 'Send Message'],
    ],
  ],
  ['user', '/checkin', 'Check-in', [['/checkin/rules'], ['/checkin/logs']]],
  [
    'marketing',
    '/marketing',
    'Marketing',
    [
      ['/marketing/coupon', 'Coupons'],
      ['/marketing/seckill/activity'],
      ['/marketing/seckill/product'],
      ['/marketing/group-buy/activity'],
      ['/marketing/group-buy/product'],
      ['/marketing/bargain/activity'],
      ['/marketing/bargain/product'],
    ],
  ],
  [
    'vip',
    '/vip',
    'VIP',
    [
      ['/vip/plans', 'Plans'],
      ['/vip/levels', 'Levels'],
      ['/vip/coupon-rules', 'Monthly Coupon Rules'],
    ],
  ],
  [
    'wms',
    '/wms',
    'Warehouse',
    [
      ['/wms/stock', 'Stock Ledger'],
      ['/wms/warehouse', 'Warehouses'],
      ['/wms/docs', 'Documents'],
      ['/wms/movements', 'Stock Movements'],
    ],
  ],
  [
    'system',
    '/system',
    'System',
    [
      ['/system/site', 'Site Settings'],
      ['/system/config', 'Configuration'],
      ['/system/admins', 'Admins'],
      ['/system/roles', 'Roles'],
    ],
  ],
];

test.each(table)('group %s has the menu %s (%s) with its pages, as the contract says', (group, path, title, pages) => {
  const { groups } = menusFor(everything, ['*'], 'en');
  const menu = groups.find(({ key }) => key === group)?.menus.find((entry) => entry.path === path);
  expect(menu).toMatchObject({ title });
  const named = pages.map(([page]) => page);
  const shown = menu!.children.filter((child) => named.includes(child.path));
  expect(shown.map((child) => child.path)).toEqual(named);
  for (const [page, text] of pages)
    if (text) expect(shown.find((child) => child.path === page)).toMatchObject({ title: text });
});

test('the icons of groups and menus are those that the console knows', () => {
  const known = 'box star layout shopping-cart users message-circle bell calendar tag award warehouse settings'.split(
    ' ',
  );
  for (const group of menusFor(everything, ['*'], 'en').groups)
    for (const { icon } of [group, ...group.menus]) expect(known).toContain(icon);
});

test('a page needs its endpoint: without routes there are no groups, and one route shows one page', () => {
  expect(menusFor([], ['*'], 'en').groups).toEqual([]);
  expect(pathsOf(menusFor([route('GET', '/spec-templates', 'product:view')], ['*'], 'en'))).toEqual([
    '/product/spec-templates',
  ]);
  // A page for adding needs the endpoint that adds, and not the endpoint that lists.
  expect(pathsOf(menusFor([route('GET', '/products', 'product:view')], ['*'], 'en'))).toEqual(['/product/list']);
  // The pages of one endpoint with a parameter.
  expect(pathsOf(menusFor([route('GET', '/decor/:page_key')], [], 'en'))).toEqual(['/decor/index', '/decor/pc']);
  // A shopper's route with the same pattern is not a page of the console.
  const publicRoute = { ...route('GET', '/products'), auth: 'public' as const };
  expect(menusFor([publicRoute], ['*'], 'en').groups).toEqual([]);
});

test('a page needs the permission of its endpoint; a group without pages is left out', () => {
  const routes = [
    route('GET', '/products', 'product:view'),
    route('POST', '/products', 'product:create'),
    route('GET', '/orders', 'order:view'),
    route('GET', '/roles', 'system:admin'),
  ];
  expect(pathsOf(menusFor(routes, ['product:view'], 'en'))).toEqual(['/product/list']);
  expect(pathsOf(menusFor(routes, ['product:create', 'system:config'], 'en'))).toEqual(['/product/form']);
  expect(menusFor(routes, ['product:*', 'Order:view', '**'], 'en').groups).toEqual([]);
  expect(menusFor(routes, ['order:view'], 'en').groups.map((group) => group.key)).toEqual(['order']);
  expect(pathsOf(menusFor(routes, ['*'], 'en'))).toHaveLength(4);
});

test('all titles are in the language of the reader', () => {
  const titles = (menus: ReturnType<typeof menusFor>) =>
    menus.groups.flatMap((group) => [
      group.title,
      ...group.menus.flatMap((menu) => [menu.title, ...menu.children.map((child) => child.title)]),
    ]);
  for (const title of titles(menusFor(everything, ['*'], 'zh-CN'))) expect(title).toMatch(/[\u4e00-\u9fff]/);
  for (const title of titles(menusFor(everything, ['*'], 'en'))) expect(title).not.toMatch(/[\u4e00-\u9fff]/);
});

test('an entry has the translation key that the console knows, and no other', () => {
  const found: Record<string, string> = {};
  const without: string[] = [];
  for (const group of menusFor(everything, ['*'], 'en').groups) {
    expect(Object.keys(group)).not.toContain('title_key');
    for (const entry of group.menus.flatMap((menu) => [menu, ...menu.children])) {
      if (entry.title_key === undefined) without.push(entry.path);
      else found[entry.path] = entry.title_key;
    }
  }
  // The menus of the contract, without those that this console does not show.
  expect(found).toEqual({
    '/product': 'menu.product',
    '/product/list': 'menu.product.list',
    '/product/category': 'menu.product.category',
    '/product/spec-templates': 'menu.product.specTemplates',
    '/order': 'menu.order',
    '/order/list': 'menu.order.list',
    '/order/after-sale/list': 'menu.order.afterSale',
    '/review': 'menu.review',
    '/review/list': 'menu.review.list',
    '/wms': 'menu.wms',
    '/wms/stock': 'menu.wms.stock',
    '/wms/warehouse': 'menu.wms.warehouse',
    '/wms/docs': 'menu.wms.docs',
    '/wms/movements': 'menu.wms.movements',
    '/marketing': 'menu.marketing',
    '/marketing/coupon': 'menu.marketing.coupon',
    '/marketing/seckill/activity': 'menu.marketing.seckillActivity',
    '/marketing/seckill/product': 'menu.marketing.seckillProduct',
    '/seckill': 'menu.seckill',
    '/seckill/activities': 'menu.seckillActivities',
    '/seckill/products': 'menu.seckillProducts',
    '/group-buy': 'menu.groupBuy',
    '/group-buy/activities': 'menu.groupBuyActivities',
    '/group-buy/products': 'menu.groupBuyProducts',
    '/bargain': 'menu.bargain',
    '/bargain/activities': 'menu.bargainActivities',
    '/bargain/products': 'menu.bargainProducts',
    '/marketing/group-buy/activity': 'menu.marketing.groupBuyActivity',
    '/marketing/group-buy/product': 'menu.marketing.groupBuyProduct',
    '/marketing/bargain/activity': 'menu.marketing.bargainActivity',
    '/marketing/bargain/product': 'menu.marketing.bargainProduct',
    '/vip': 'menu.vip',
    '/vip/plans': 'menu.vip.plans',
    '/vip/levels': 'menu.vip.levels',
    '/vip/coupon-rules': 'menu.vip.couponRules',
    '/im': 'menu.im',
    '/im/sessions': 'menu.im.sessions',
    '/im/analytics': 'menu.im.analytics',
    '/im/logs': 'menu.im.logs',
    '/im/knowledge': 'menu.im.knowledge',
    '/im/staff-manage': 'menu.im.staffManage',
    '/im/auto-reply': 'menu.im.autoReply',
    '/message': 'menu.message',
    '/message/list': 'menu.message.list',
    '/message/send': 'menu.message.send',
    '/checkin': 'menu.checkin',
    '/checkin/rules': 'menu.checkin.rules',
    '/checkin/logs': 'menu.checkin.logs',
    '/points-mall': 'menu.pointsMall',
    '/points-mall/products': 'menu.pointsProducts',
    '/points-mall/exchanges': 'menu.pointsExchanges',
    '/points-mall/logs': 'menu.pointsLogs',
    '/points-mall/stats': 'menu.pointsStats',
    '/points-mall/config': 'menu.pointsConfig',
    '/distribution': 'menu.distribution',
    '/distribution/distributors': 'menu.distributionDistributors',
    '/distribution/orders': 'menu.distributionOrders',
    '/distribution/withdrawals': 'menu.distributionWithdrawals',
    '/distribution/config': 'menu.distributionConfig',
    '/decor': 'menu.decor',
    '/decor/index': 'menu.decor.editor',
  });
  // Menus that the contract does not have are without a key. Packages may add further ones.
  expect(without).toEqual(
    expect.arrayContaining([
      ...['/product/form', '/decor/pc', '/ai', '/ai/tasks', '/ai/models'],
      ...['/system', '/system/site', '/system/config', '/system/admins', '/system/roles', '/system/change-log'],
    ]),
  );
});

test('a console that sorts by sort, then path, shows the pages in the order of the table for any permissions', () => {
  const sorted = <T extends { sort: number; path: string }>(rows: T[]) =>
    [...rows].sort((a, b) => a.sort - b.sort || a.path.localeCompare(b.path)).map((row) => row.path);
  const all = menusFor(everything, ['*'], 'en').groups.flatMap((group) => group.menus);
  for (const menu of all) expect(sorted(menu.children)).toEqual(menu.children.map((child) => child.path));
  const [product] = menusFor([route('POST', '/products'), route('GET', '/categories')], [], 'en').groups[0]!.menus;
  expect(product!.children.map(({ path, sort }) => [path, sort])).toEqual([
    ['/product/category', 20],
    ['/product/form', 40],
  ]);
});

test('with all modules, the menus have every declared page', () => {
  const declared = entries.flatMap(({ pages }) => pages.map(({ path }) => path));
  expect(pathsOf(menusFor(everything, ['*'], 'en')).sort()).toEqual(declared.sort());
});

test('pages of a missing menu are left out; a repeated path and an unknown group stop the start', () => {
  const page = { path: '/till/sales', title: { en: 'Sales', 'zh-CN': '销售' }, needs: 'GET /sales', sort: 10 };
  const menu = { path: '/till', group: 'order', title: { en: 'Till', 'zh-CN': '收银' }, icon: 'box', sort: 5 };
  const served = [route('GET', '/sales')];
  const pages = (...given: Parameters<typeof menuTreeOf>[0]) =>
    pathsOf(menusOf(menuTreeOf(given), served, ['*'], 'en'));
  expect(pages({ path: '/till', pages: [page] })).toEqual([]);
  expect(pages({ path: '/till', pages: [page] }, { ...menu, pages: [] })).toEqual(['/till/sales']);
  expect(() => pages({ ...menu, pages: [page] }, { path: '/till', pages: [page] })).toThrow(
    '/till/sales is declared twice',
  );
  expect(() => pages({ ...menu, pages: [] }, { ...menu, pages: [page] })).toThrow('/till is declared twice');
  expect(() => pages({ ...menu, group: 'none', pages: [] })).toThrow('in the group none, which does not exist');
});
