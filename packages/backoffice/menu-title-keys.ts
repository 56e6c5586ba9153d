/** `prefix/name` -> `key.Name` for entries whose keys follow one pattern. */
const keysOf = (prefix: string, key: string, names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([name, suffix]) => [`${prefix}/${name}`, `${key}${suffix}`] as const);

/**
 * Translation keys that the console knows, by path (contract: commerce-admin.md 1.1). The console shows an unknown key as
 * it is, so an entry that is not listed there has none.
 */
export const menuTitleKeys: ReadonlyMap<string, string> = new Map([
  ['/product', 'menu.product'],
  ...keysOf('/product', 'menu.product.', {
    list: 'list',
    category: 'category',
    'spec-templates': 'specTemplates',
  }),
  ['/order', 'menu.order'],
  ...keysOf('/order', 'menu.order.', { list: 'list', 'after-sale/list': 'afterSale' }),
  ['/review', 'menu.review'],
  ...keysOf('/review', 'menu.review.', { list: 'list' }),
  ['/wms', 'menu.wms'],
  ...keysOf('/wms', 'menu.wms.', {
    stock: 'stock',
    warehouse: 'warehouse',
    docs: 'docs',
    movements: 'movements',
  }),
  ['/marketing', 'menu.marketing'],
  ...keysOf('/marketing', 'menu.marketing.', {
    coupon: 'coupon',
    'seckill/activity': 'seckillActivity',
    'seckill/product': 'seckillProduct',
    'group-buy/activity': 'groupBuyActivity',
    'group-buy/product': 'groupBuyProduct',
    'bargain/activity': 'bargainActivity',
    'bargain/product': 'bargainProduct',
  }),
  ['/vip', 'menu.vip'],
  ...keysOf('/vip', 'menu.vip.', {
    plans: 'plans',
    levels: 'levels',
    'coupon-rules': 'couponRules',
  }),
  ['/im', 'menu.im'],
  ...keysOf('/im', 'menu.im.', {
    sessions: 'sessions',
    analytics: 'analytics',
    logs: 'logs',
    knowledge: 'knowledge',
    'staff-manage': 'staffManage',
    'auto-reply': 'autoReply',
  }),
  ['/message', 'menu.message'],
  ...keysOf('/message', 'menu.message.', { list: 'list', send: 'send' }),
  ['/checkin', 'menu.checkin'],
  ...keysOf('/checkin', 'menu.checkin.', { rules: 'rules', logs: 'logs' }),
  ['/points-mall', 'menu.pointsMall'],
  ...keysOf('/points-mall', 'menu.points', {
    products: 'Products',
    exchanges: 'Exchanges',
    logs: 'Logs',
    stats: 'Stats',
    config: 'Config',
  }),
  ['/distribution', 'menu.distribution'],
  ...keysOf('/distribution', 'menu.distribution', {
    distributors: 'Distributors',
    orders: 'Orders',
    withdrawals: 'Withdrawals',
    config: 'Config',
  }),
  ['/decor', 'menu.decor'],
  ['/decor/index', 'menu.decor.editor'],
]);
