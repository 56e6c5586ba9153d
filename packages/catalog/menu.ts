import type { MenuEntry } from '@tradepost/module';

export const catalogMenu: readonly MenuEntry[] = [
  {
    path: '/product',
    group: 'product',
    title: { en: 'Products', 'zh-CN': '商品管理', key: 'menu.product' },
    icon: 'box',
    sort: 10,
    pages: [
      {
        path: '/product/list',
        needs: 'GET /products',
        sort: 10,
        title: { en: 'Product List', 'zh-CN': '商品列表', key: 'menu.product.list' },
      },
      {
        path: '/product/category',
        needs: 'GET /categories',
        sort: 20,
        title: { en: 'Categories', 'zh-CN': '商品分类', key: 'menu.product.category' },
      },
      {
        path: '/product/spec-templates',
        needs: 'GET /spec-templates',
        sort: 30,
        title: { en: 'Spec Templates', 'zh-CN': '规格模板', key: 'menu.product.specTemplates' },
      },
      { path: '/product/form', needs: 'POST /products', sort: 40, title: { en: 'Add Product', 'zh-CN': '新增商品' } },
    ],
  },
];
