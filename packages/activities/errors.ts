import { defineErrors } from '@tradepost/core';

export const activityErrors = defineErrors({
  activity_unknown: { code: 404, en: 'Activity not found', 'zh-CN': '活动不存在' },
  activity_row_unknown: { code: 404, en: 'Activity product not found', 'zh-CN': '活动商品不存在' },
  invalid_activity_time: {
    code: 400,
    en: '{field}: must be a date (2026-03-01) or a time (2026-03-01T09:30:00)',
    'zh-CN': '{field}：须为日期（2026-03-01）或时间（2026-03-01T09:30:00）',
  },
  ends_before_start: { code: 400, en: 'end_at: must be after start_at', 'zh-CN': 'end_at：须晚于 start_at' },
  activity_overlap: {
    code: 500,
    en: 'The time overlaps with another activity of the same type',
    'zh-CN': '活动时间与同类型的其他活动重叠',
  },
  row_twice: {
    code: 400,
    en: 'product {product_id}, SKU {sku_id}: is there twice',
    'zh-CN': '商品 {product_id} 的 SKU {sku_id} 重复',
  },
  row_without_price: {
    code: 400,
    en: '{field}: must be above 0 (product {product_id}, SKU {sku_id})',
    'zh-CN': '{field}：须大于 0（商品 {product_id}，SKU {sku_id}）',
  },
  floor_above_start: {
    code: 400,
    en: 'floor_price: must be at most start_price (product {product_id}, SKU {sku_id})',
    'zh-CN': 'floor_price：不得高于 start_price（商品 {product_id}，SKU {sku_id}）',
  },
  row_goods_unknown: {
    code: 400,
    en: 'product {product_id} does not exist or has no SKU {sku_id}',
    'zh-CN': '商品 {product_id} 不存在或没有 SKU {sku_id}',
  },
  limit_below_sold: {
    code: 500,
    en: 'total_stock_limit: {sold} pieces are sold already (product {product_id}, SKU {sku_id})',
    'zh-CN': 'total_stock_limit：已售 {sold} 件（商品 {product_id}，SKU {sku_id}）',
  },
  // The refusals of opening a group or a bargain.
  offer_not_found: { code: 1, en: 'The activity does not have this product', 'zh-CN': '活动不包含该商品' },
  offer_not_running: { code: 1, en: 'The activity is not running', 'zh-CN': '活动未在进行中' },
  offer_sold_out: { code: 1, en: 'The activity is sold out', 'zh-CN': '活动商品已售罄' },
  // The refusals of order lines, in the order of the checks.
  activity_line_unknown: { code: 20001, en: 'Activity product not found', 'zh-CN': '活动商品不存在' },
  activity_sku_mismatch: { code: 20001, en: 'The activity does not have this SKU', 'zh-CN': '活动不包含该规格' },
  activity_product_mismatch: {
    code: 20001,
    en: 'The activity does not have this product',
    'zh-CN': '活动不包含该商品',
  },
  activity_inactive: { code: 20001, en: 'The activity is not active', 'zh-CN': '活动未启用' },
  activity_not_started: { code: 20001, en: 'The activity has not started', 'zh-CN': '活动尚未开始' },
  activity_ended: { code: 20001, en: 'The activity has ended', 'zh-CN': '活动已结束' },
  activity_sold_out: { code: 20001, en: 'The activity is sold out', 'zh-CN': '活动商品已售罄' },
  activity_order_limit: {
    code: 20001,
    en: 'At most {max} pieces of the activity fit into one order',
    'zh-CN': '每单限购 {max} 件活动商品',
  },
  activity_stock_short: {
    code: 20001,
    en: 'The activity has only {left} pieces left',
    'zh-CN': '活动商品仅剩 {left} 件',
  },
});
