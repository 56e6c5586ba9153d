import type { MenuEntry } from '@tradepost/module';

export const inventoryMenu: readonly MenuEntry[] = [
  {
    path: '/wms',
    group: 'wms',
    title: { en: 'Warehouse', 'zh-CN': '仓储管理', key: 'menu.wms' },
    icon: 'warehouse',
    sort: 30,
    pages: [
      {
        path: '/wms/stock',
        needs: 'GET /wms/stocks',
        sort: 10,
        title: { en: 'Stock Ledger', 'zh-CN': '库存台账', key: 'menu.wms.stock' },
      },
      {
        path: '/wms/warehouse',
        needs: 'GET /wms/warehouses',
        sort: 20,
        title: { en: 'Warehouses', 'zh-CN': '仓库', key: 'menu.wms.warehouse' },
      },
      {
        path: '/wms/docs',
        needs: 'GET /wms/docs',
        sort: 30,
        title: { en: 'Documents', 'zh-CN': '出入库单', key: 'menu.wms.docs' },
      },
      {
        path: '/wms/movements',
        needs: 'GET /wms/movements',
        sort: 40,
        title: { en: 'Stock Movements', 'zh-CN': '库存流水', key: 'menu.wms.movements' },
      },
    ],
  },
];
