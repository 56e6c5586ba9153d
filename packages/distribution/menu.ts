import type { MenuEntry, MenuPage, MenuTitle } from '@tradepost/module';

/** The clients call these endpoints with the prefix twice, so their paths begin with `admin/api` again. */
const page = (name: string, sort: number, title: MenuTitle): MenuPage => ({
  path: `/distribution/${name}`,
  needs: `GET /admin/api/distribution/${name}`,
  sort,
  title,
});

export const distributionMenu: readonly MenuEntry[] = [
  {
    path: '/distribution',
    group: 'marketing',
    title: { en: 'Distribution', 'zh-CN': '分销', key: 'menu.distribution' },
    icon: 'users',
    sort: 55,
    pages: [
      page('distributors', 10, { en: 'Distributors', 'zh-CN': '分销商', key: 'menu.distributionDistributors' }),
      page('orders', 20, { en: 'Orders', 'zh-CN': '分销订单', key: 'menu.distributionOrders' }),
      page('withdrawals', 30, { en: 'Withdrawals', 'zh-CN': '提现申请', key: 'menu.distributionWithdrawals' }),
      page('config', 40, { en: 'Settings', 'zh-CN': '分销设置', key: 'menu.distributionConfig' }),
    ],
  },
];
