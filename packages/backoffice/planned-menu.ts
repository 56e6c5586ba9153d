import type { MenuEntry, MenuPage, MenuTitle } from '@tradepost/module';

const page = (path: string, needs: string, sort: number, title: MenuTitle): MenuPage => ({ path, needs, sort, title });

/**
 * Menus and pages that the console has and that no package serves yet. A package that serves one of them declares it in
 * its own module.
 */
export const plannedMenu: readonly MenuEntry[] = [
  {
    path: '/im',
    group: 'user',
    title: { en: 'Customer Service', 'zh-CN': '客服', key: 'menu.im' },
    icon: 'message-circle',
    sort: 60,
    pages: [
      page('/im/sessions', 'GET /im/sessions', 10, { en: 'Sessions', 'zh-CN': '会话', key: 'menu.im.sessions' }),
      page('/im/analytics', 'GET /im/analytics', 20, {
        en: 'Analytics',
        'zh-CN': '客服统计',
        key: 'menu.im.analytics',
      }),
      page('/im/logs', 'GET /im/logs', 30, { en: 'Logs', 'zh-CN': '日志', key: 'menu.im.logs' }),
      page('/im/staff-manage', 'GET /im/staff', 40, { en: 'Staff', 'zh-CN': '客服人员', key: 'menu.im.staffManage' }),
      page('/im/knowledge', 'GET /im/knowledge', 50, {
        en: 'Knowledge Base',
        'zh-CN': '知识库',
        key: 'menu.im.knowledge',
      }),
      page('/im/auto-reply', 'GET /im/auto-replies', 60, {
        en: 'Auto Replies',
        'zh-CN': '自动回复',
        key: 'menu.im.autoReply',
      }),
    ],
  },
  {
    path: '/checkin',
    group: 'user',
    title: { en: 'Check-in', 'zh-CN': '签到', key: 'menu.checkin' },
    icon: 'calendar',
    sort: 75,
    pages: [
      page('/checkin/rules', 'GET /checkin/rules', 10, {
        en: 'Check-in Rules',
        'zh-CN': '签到规则',
        key: 'menu.checkin.rules',
      }),
      page('/checkin/logs', 'GET /checkin/logs', 20, {
        en: 'Check-in Logs',
        'zh-CN': '签到记录',
        key: 'menu.checkin.logs',
      }),
    ],
  },
  {
    path: '/marketing',
    group: 'marketing',
    title: { en: 'Marketing', 'zh-CN': '营销活动', key: 'menu.marketing' },
    icon: 'tag',
    sort: 40,
    pages: [
      page('/marketing/coupon', 'GET /marketing/coupons', 10, {
        en: 'Coupons',
        'zh-CN': '优惠券',
        key: 'menu.marketing.coupon',
      }),
      page('/marketing/seckill/activity', 'GET /seckill/activities', 20, {
        en: 'Flash Sales',
        'zh-CN': '秒杀活动',
        key: 'menu.marketing.seckillActivity',
      }),
      page('/marketing/seckill/product', 'GET /seckill/products', 30, {
        en: 'Flash Sale Products',
        'zh-CN': '秒杀商品',
        key: 'menu.marketing.seckillProduct',
      }),
      page('/marketing/group-buy/activity', 'GET /group-buy/activities', 40, {
        en: 'Group Buys',
        'zh-CN': '拼团活动',
        key: 'menu.marketing.groupBuyActivity',
      }),
      page('/marketing/group-buy/product', 'GET /group-buy/products', 50, {
        en: 'Group Buy Products',
        'zh-CN': '拼团商品',
        key: 'menu.marketing.groupBuyProduct',
      }),
      page('/marketing/bargain/activity', 'GET /bargain/activities', 60, {
        en: 'Bargains',
        'zh-CN': '砍价活动',
        key: 'menu.marketing.bargainActivity',
      }),
      page('/marketing/bargain/product', 'GET /bargain/products', 70, {
        en: 'Bargain Products',
        'zh-CN': '砍价商品',
        key: 'menu.marketing.bargainProduct',
      }),
    ],
  },
  {
    path: '/points-mall',
    group: 'marketing',
    title: { en: 'Points Mall', 'zh-CN': '积分商城', key: 'menu.pointsMall' },
    icon: 'award',
    sort: 50,
    pages: [
      page('/points-mall/products', 'GET /points/products', 10, {
        en: 'Products',
        'zh-CN': '积分商品',
        key: 'menu.pointsProducts',
      }),
      page('/points-mall/exchanges', 'GET /points/exchanges', 20, {
        en: 'Exchanges',
        'zh-CN': '兑换记录',
        key: 'menu.pointsExchanges',
      }),
      page('/points-mall/logs', 'GET /points/logs', 30, {
        en: 'Points Logs',
        'zh-CN': '积分明细',
        key: 'menu.pointsLogs',
      }),
      page('/points-mall/stats', 'GET /points/stats', 40, {
        en: 'Statistics',
        'zh-CN': '积分统计',
        key: 'menu.pointsStats',
      }),
      page('/points-mall/config', 'GET /points/config', 50, {
        en: 'Settings',
        'zh-CN': '积分设置',
        key: 'menu.pointsConfig',
      }),
    ],
  },
  {
    path: '/distribution',
    group: 'marketing',
    title: { en: 'Distribution', 'zh-CN': '分销', key: 'menu.distribution' },
    icon: 'users',
    sort: 55,
    // The clients call these endpoints with the prefix twice, so their paths begin with `admin/api` again.
    pages: [
      page('/distribution/distributors', 'GET /admin/api/distribution/distributors', 10, {
        en: 'Distributors',
        'zh-CN': '分销商',
        key: 'menu.distributionDistributors',
      }),
      page('/distribution/orders', 'GET /admin/api/distribution/orders', 20, {
        en: 'Orders',
        'zh-CN': '分销订单',
        key: 'menu.distributionOrders',
      }),
      page('/distribution/withdrawals', 'GET /admin/api/distribution/withdrawals', 30, {
        en: 'Withdrawals',
        'zh-CN': '提现申请',
        key: 'menu.distributionWithdrawals',
      }),
      page('/distribution/config', 'GET /admin/api/distribution/config', 40, {
        en: 'Settings',
        'zh-CN': '分销设置',
        key: 'menu.distributionConfig',
      }),
    ],
  },
  {
    path: '/vip',
    group: 'vip',
    title: { en: 'VIP', 'zh-CN': '会员管理', key: 'menu.vip' },
    icon: 'award',
    sort: 45,
    pages: [
      page('/vip/plans', 'GET /vip/plans', 10, { en: 'Plans', 'zh-CN': '会员套餐', key: 'menu.vip.plans' }),
      page('/vip/levels', 'GET /vip/levels', 20, { en: 'Levels', 'zh-CN': '会员等级', key: 'menu.vip.levels' }),
      page('/vip/coupon-rules', 'GET /vip/coupon-rules', 30, {
        en: 'Monthly Coupon Rules',
        'zh-CN': '月度赠券规则',
        key: 'menu.vip.couponRules',
      }),
    ],
  },
];
