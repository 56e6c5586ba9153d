import type { MenuEntry, MenuPage, MenuTitle } from '@tradepost/module';

const page = (path: string, needs: string, sort: number, title: MenuTitle): MenuPage => ({ path, needs, sort, title });

export const vipMenu: readonly MenuEntry[] = [
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
