import type { MenuEntry } from '@tradepost/module';

/** The menu `/marketing` has pages of several packages, so backoffice declares it. */
export const marketingMenu: readonly MenuEntry[] = [
  {
    path: '/marketing',
    pages: [
      {
        path: '/marketing/coupon',
        needs: 'GET /marketing/coupons',
        sort: 10,
        title: { en: 'Coupons', 'zh-CN': '优惠券', key: 'menu.marketing.coupon' },
      },
    ],
  },
];
