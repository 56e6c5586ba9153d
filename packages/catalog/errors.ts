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
});
