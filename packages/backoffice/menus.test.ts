import { defineRoute, nothing, type Route } from '@tradepost/http';
import { expect, test } from 'vitest';
import { menuGroups } from './menu-table.ts';
import { menusFor } from './menus.ts';

/** Contract: commerce-admin.md 1.1. */

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
/** Every endpoint that some page needs, with a parameter's name where the table says `:`. */
const everything = menuGroups
  .flatMap((group) => group.menus.flatMap((menu) => menu.children.map((child) => child.needs)))
  .map((needs) => needs.split(' ') as ['GET' | 'POST', string])
  .map(([method, path]) => route(method, path.replaceAll(/:(?=\/|$)/g, ':anything')));

const pathsOf = (menus: ReturnType<typeof menusFor>) =>
  menus.groups.flatMap((group) => group.menus.flatMap((menu) => menu.children.map((child) => child.path)));

test('with everything served, the groups, menus and pages of the contract are there in their order', () => {
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
  for (const path of (
    '/product/list /product/category /product/spec-templates /product/form /review/list /decor/index /decor/pc ' +
    '/order/list /order/after-sale/list /im/sessions /im/analytics /im/logs /im/knowledge /message/list /message/send ' +
    '/checkin/rules /checkin/logs /marketing/coupon /marketing/seckill/activity /marketing/seckill/product ' +
    '/marketing/group-buy/activity /marketing/group-buy/product /marketing/bargain/activity /marketing/bargain/product ' +
    '/vip/plans /vip/levels /vip/coupon-rules /wms/stock /wms/warehouse /wms/docs /wms/movements ' +
    '/system/site /system/config /system/admins /system/roles'
  ).split(' '))
    expect(paths).toContain(path);
  const stock = groups.find((group) => group.key === 'wms')!.menus[0]!.children[0]!;
  expect(stock).toEqual({ path: '/wms/stock', title: 'Stock Ledger', title_key: 'menu.wms.stock' });
});

test('a page needs its endpoint: with nothing served there are no groups, and one route lights up one page', () => {
  expect(menusFor([], ['*'], 'en').groups).toEqual([]);
  expect(pathsOf(menusFor([route('GET', '/spec-templates', 'product:view')], ['*'], 'en'))).toEqual([
    '/product/spec-templates',
  ]);
  // Adding asks for the endpoint that adds, not for the one that lists.
  expect(pathsOf(menusFor([route('GET', '/products', 'product:view')], ['*'], 'en'))).toEqual(['/product/list']);
  // The pages of one endpoint with a parameter.
  expect(pathsOf(menusFor([route('GET', '/decor/:page_key')], [], 'en'))).toEqual(['/decor/index', '/decor/pc']);
  // A shopper's route of the same shape is no page of the console.
  const publicRoute = { ...route('GET', '/products'), auth: 'public' as const };
  expect(menusFor([publicRoute], ['*'], 'en').groups).toEqual([]);
});

test('a page needs the permission of its endpoint; a module without a page left has no group', () => {
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

test('titles are in the language of the reader, all of them', () => {
  const titles = (menus: ReturnType<typeof menusFor>) =>
    menus.groups.flatMap((group) => [
      group.title,
      ...group.menus.flatMap((menu) => [menu.title, ...menu.children.map((child) => child.title)]),
    ]);
  for (const title of titles(menusFor(everything, ['*'], 'zh-CN'))) expect(title).toMatch(/[\u4e00-\u9fff]/);
  for (const title of titles(menusFor(everything, ['*'], 'en'))) expect(title).not.toMatch(/[\u4e00-\u9fff]/);
});
