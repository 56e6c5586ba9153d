import { defineErrors } from '@tradepost/core';

export const catalogErrors = defineErrors({
  product_not_found: { code: 10002, en: 'Product not found', 'zh-CN': '商品不存在' },
  category_not_found: {
    code: 400,
    en: 'product.category_id: there is no such category',
    'zh-CN': 'product.category_id：分类不存在',
  },
  too_many_skus: {
    code: 400,
    en: 'spec_schema: {count} combinations, at most {max} are allowed',
    'zh-CN': 'spec_schema：规格组合共 {count} 个，最多 {max} 个',
  },
  too_many_former_skus: {
    code: 400,
    en: 'spec_schema: the product would have {count} SKUs with those no longer sold, at most {max} are allowed',
    'zh-CN': 'spec_schema：含已停售的规格共 {count} 个，最多 {max} 个',
  },
  duplicate_spec: { code: 400, en: 'spec_schema: {name} is there twice', 'zh-CN': 'spec_schema：{name} 重复' },
  empty_spec: { code: 400, en: 'spec_schema: {name} has no values', 'zh-CN': 'spec_schema：{name} 没有规格值' },
  duplicate_override: {
    code: 400,
    en: 'sku_overrides: {sku_key} is there twice',
    'zh-CN': 'sku_overrides：{sku_key} 重复',
  },
  unknown_override: {
    code: 400,
    en: 'sku_overrides: no combination has the key {sku_key}',
    'zh-CN': 'sku_overrides：没有规格组合 {sku_key}',
  },
  stock_below_reserved: {
    code: 409,
    en: 'stock of {sku_key} can not go below {reserved}: open orders hold that many',
    'zh-CN': '{sku_key} 的库存不能低于 {reserved}：未完成订单已占用',
  },
  product_in_orders: {
    code: 500,
    en: 'Open orders hold stock of this product: take it off the shelf now, and delete it when they are paid or cancelled',
    'zh-CN': '该商品有未完成订单占用库存，请先下架，待订单支付或取消后再删除',
  },
  price_too_large: { code: 400, en: 'The new price would be too large', 'zh-CN': '调整后的价格过大' },
  price_missing: {
    code: 400,
    en: '{field}: a product on sale needs a price above 0; until it has one it stays off the shelf (status 0)',
    'zh-CN': '{field}：上架商品的价格必须大于 0，定价前请保持下架（status 0）',
  },
  no_such_category: { code: 400, en: '{field}: there is no such category', 'zh-CN': '{field}：分类不存在' },
  category_not_there: { code: 404, en: 'Category not found', 'zh-CN': '分类不存在' },
  too_many_favorites: {
    code: 409,
    en: 'An account holds at most {max} favourites: remove one first',
    'zh-CN': '每个账号最多收藏 {max} 个商品，请先取消一个',
  },
  too_many_categories: { code: 409, en: 'There are at most {max} categories', 'zh-CN': '分类最多 {max} 个' },
  category_in_itself: {
    code: 400,
    en: 'parent_id: a category can not be below itself',
    'zh-CN': 'parent_id：分类不能移动到自身或其下级',
  },
  category_too_deep: {
    code: 400,
    en: 'parent_id: categories have at most {max} levels',
    'zh-CN': 'parent_id：分类最多 {max} 级',
  },
  category_has_children: {
    code: 500,
    en: 'The category has {count} categories below it: move or delete them first',
    'zh-CN': '该分类下有 {count} 个子分类，请先移动或删除',
  },
  category_has_products: {
    code: 500,
    en: 'The category has {count} products: move them first',
    'zh-CN': '该分类下有 {count} 个商品，请先移动',
  },
  spec_template_not_found: { code: 404, en: 'Spec template not found', 'zh-CN': '规格模板不存在' },
});
