import type { Localized } from '@tradepost/core';

/** A page of the console and the endpoint it lives on; without that endpoint there is no such page. */
type MenuPage = { path: string; title: Localized; needs: string };
type Menu = { path: string; title: Localized; icon: string; sort: number; children: readonly MenuPage[] };
export type MenuGroup = { key: string; title: Localized; icon: string; sort: number; menus: readonly Menu[] };

const title = (en: string, zh: string): Localized => ({ en, 'zh-CN': zh });
const page = (path: string, needs: string, en: string, zh: string): MenuPage => ({ path, needs, title: title(en, zh) });
export const dashboard = { path: '/dashboard', title: title('Dashboard', '仪表盘') };

/**
 * The console's menus (contract: commerce-admin.md 1.1, messaging.md 4). `needs` is relative to /admin/api; `:` stands for any parameter.
 */
export const menuGroups: readonly MenuGroup[] = [
  {
    key: 'product',
    title: title('Products', '商品'),
    icon: 'box',
    sort: 10,
    menus: [
      {
        path: '/product',
        title: title('Products', '商品管理'),
        icon: 'box',
        sort: 10,
        children: [
          page('/product/list', 'GET /products', 'Product List', '商品列表'),
          page('/product/category', 'GET /categories', 'Categories', '商品分类'),
          page('/product/spec-templates', 'GET /spec-templates', 'Spec Templates', '规格模板'),
          page('/product/form', 'POST /products', 'Add Product', '新增商品'),
        ],
      },
      {
        path: '/review',
        title: title('Reviews', '评价管理'),
        icon: 'star',
        sort: 21,
        children: [page('/review/list', 'GET /reviews', 'Review List', '评价列表')],
      },
      {
        path: '/decor',
        title: title('Page Designer', '页面装修'),
        icon: 'layout',
        sort: 70,
        children: [
          page('/decor/index', 'GET /decor/:', 'Mobile', '移动端'),
          page('/decor/pc', 'GET /decor/:', 'PC', '电脑端'),
        ],
      },
    ],
  },
  {
    key: 'order',
    title: title('Orders', '订单'),
    icon: 'shopping-cart',
    sort: 20,
    menus: [
      {
        path: '/order',
        title: title('Orders', '订单管理'),
        icon: 'shopping-cart',
        sort: 20,
        children: [
          page('/order/list', 'GET /orders', 'Order List', '订单列表'),
          page('/order/after-sale/list', 'GET /after-sales', 'After-Sale', '售后列表'),
        ],
      },
    ],
  },
  {
    key: 'user',
    title: title('Customers', '用户'),
    icon: 'users',
    sort: 30,
    menus: [
      {
        path: '/im',
        title: title('Customer Service', '客服'),
        icon: 'message-circle',
        sort: 60,
        children: [
          page('/im/sessions', 'GET /im/sessions', 'Sessions', '会话'),
          page('/im/analytics', 'GET /im/analytics', 'Analytics', '客服统计'),
          page('/im/logs', 'GET /im/logs', 'Logs', '日志'),
          page('/im/staff-manage', 'GET /im/staff', 'Staff', '客服人员'),
          page('/im/knowledge', 'GET /im/knowledge', 'Knowledge Base', '知识库'),
          page('/im/auto-reply', 'GET /im/auto-replies', 'Auto Replies', '自动回复'),
        ],
      },
      {
        path: '/checkin',
        title: title('Check-in', '签到'),
        icon: 'calendar',
        sort: 75,
        children: [
          page('/checkin/rules', 'GET /checkin/rules', 'Check-in Rules', '签到规则'),
          page('/checkin/logs', 'GET /checkin/logs', 'Check-in Logs', '签到记录'),
        ],
      },
      {
        path: '/message',
        title: title('Messages', '消息'),
        icon: 'bell',
        sort: 80,
        children: [
          page('/message/list', 'GET /messages', 'Message List', '消息列表'),
          page('/message/send', 'POST /messages/send', 'Send Message', '发送消息'),
        ],
      },
    ],
  },
  {
    key: 'marketing',
    title: title('Marketing', '营销'),
    icon: 'tag',
    sort: 40,
    menus: [
      {
        path: '/marketing',
        title: title('Marketing', '营销活动'),
        icon: 'tag',
        sort: 40,
        children: [
          page('/marketing/coupon', 'GET /marketing/coupons', 'Coupons', '优惠券'),
          page('/marketing/seckill/activity', 'GET /seckill/activities', 'Flash Sales', '秒杀活动'),
          page('/marketing/seckill/product', 'GET /seckill/products', 'Flash Sale Products', '秒杀商品'),
          page('/marketing/group-buy/activity', 'GET /group-buy/activities', 'Group Buys', '拼团活动'),
          page('/marketing/group-buy/product', 'GET /group-buy/products', 'Group Buy Products', '拼团商品'),
          page('/marketing/bargain/activity', 'GET /bargain/activities', 'Bargains', '砍价活动'),
          page('/marketing/bargain/product', 'GET /bargain/products', 'Bargain Products', '砍价商品'),
        ],
      },
      {
        path: '/points-mall',
        title: title('Points Mall', '积分商城'),
        icon: 'award',
        sort: 50,
        children: [
          page('/points-mall/products', 'GET /points/products', 'Products', '积分商品'),
          page('/points-mall/exchanges', 'GET /points/exchanges', 'Exchanges', '兑换记录'),
          page('/points-mall/logs', 'GET /points/logs', 'Points Logs', '积分明细'),
          page('/points-mall/stats', 'GET /points/stats', 'Statistics', '积分统计'),
          page('/points-mall/config', 'GET /points/config', 'Settings', '积分设置'),
        ],
      },
      {
        path: '/distribution',
        title: title('Distribution', '分销'),
        icon: 'users',
        sort: 55,
        // This page's calls carry the prefix twice (contract: commerce-admin.md 7).
        children: [
          page('/distribution/distributors', 'GET /admin/api/distribution/distributors', 'Distributors', '分销商'),
          page('/distribution/orders', 'GET /admin/api/distribution/orders', 'Orders', '分销订单'),
          page('/distribution/withdrawals', 'GET /admin/api/distribution/withdrawals', 'Withdrawals', '提现申请'),
          page('/distribution/config', 'GET /admin/api/distribution/config', 'Settings', '分销设置'),
        ],
      },
    ],
  },
  {
    key: 'vip',
    title: title('VIP', '会员'),
    icon: 'award',
    sort: 45,
    menus: [
      {
        path: '/vip',
        title: title('VIP', '会员管理'),
        icon: 'award',
        sort: 45,
        children: [
          page('/vip/plans', 'GET /vip/plans', 'Plans', '会员套餐'),
          page('/vip/levels', 'GET /vip/levels', 'Levels', '会员等级'),
          page('/vip/coupon-rules', 'GET /vip/coupon-rules', 'Monthly Coupon Rules', '月度赠券规则'),
        ],
      },
    ],
  },
  {
    key: 'wms',
    title: title('Warehouse', '仓储'),
    icon: 'warehouse',
    sort: 50,
    menus: [
      {
        path: '/wms',
        title: title('Warehouse', '仓储管理'),
        icon: 'warehouse',
        sort: 30,
        children: [
          page('/wms/stock', 'GET /wms/stocks', 'Stock Ledger', '库存台账'),
          page('/wms/warehouse', 'GET /wms/warehouses', 'Warehouses', '仓库'),
          page('/wms/docs', 'GET /wms/docs', 'Documents', '出入库单'),
          page('/wms/movements', 'GET /wms/movements', 'Stock Movements', '库存流水'),
        ],
      },
    ],
  },
  {
    key: 'system',
    title: title('System', '系统'),
    icon: 'settings',
    sort: 60,
    menus: [
      {
        path: '/ai',
        title: title('AI Images', 'AI 图片'),
        icon: 'star',
        sort: 85,
        children: [
          page('/ai/tasks', 'GET /ai/tasks', 'Tasks', '生成任务'),
          page('/ai/models', 'GET /ai/models', 'Models', '模型'),
        ],
      },
      {
        path: '/system',
        title: title('System', '系统设置'),
        icon: 'settings',
        sort: 90,
        children: [
          page('/system/site', 'GET /site-settings', 'Site Settings', '站点设置'),
          page('/system/config', 'GET /config/schemas', 'Configuration', '系统配置'),
          page('/system/admins', 'GET /admins', 'Admins', '管理员'),
          page('/system/roles', 'GET /roles', 'Roles', '角色'),
        ],
      },
    ],
  },
];
