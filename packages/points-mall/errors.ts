import { defineErrors } from '@tradepost/core';

export const mallErrors = defineErrors({
  product_not_found: { code: 404, en: 'Product not found', 'zh-CN': '积分商品不存在' },
  off_shelf: { code: 403, en: 'The product is off the shelf', 'zh-CN': '积分商品已下架' },
  exchange_not_found: { code: 404, en: 'Exchange not found', 'zh-CN': '兑换记录不存在' },
  sold_out: { code: 500, en: 'The product is sold out', 'zh-CN': '积分商品已兑完' },
  stock_short: { code: 500, en: 'Only {left} left in stock', 'zh-CN': '库存不足，仅剩 {left} 件' },
  limit_per_user: {
    code: 500,
    en: 'At most {max} of this product for one shopper; you have {taken}',
    'zh-CN': '该商品每人限兑 {max} 件，您已兑换 {taken} 件',
  },
  limit_per_day: {
    code: 500,
    en: 'At most {max} of this product for one shopper in a day; you have {taken} today',
    'zh-CN': '该商品每人每日限兑 {max} 件，您今日已兑换 {taken} 件',
  },
  not_enough_points: {
    code: 500,
    en: 'Not enough points: {cost} needed, {balance} left',
    'zh-CN': '积分不足：需要 {cost}，剩余 {balance}',
  },
  address_needed: {
    code: 500,
    en: 'Please add a delivery address first',
    'zh-CN': '请先添加收货地址',
  },
  address_incomplete: {
    code: 400,
    en: 'address_snapshot: name, phone and address are needed',
    'zh-CN': 'address_snapshot：请填写收货人、电话和详细地址',
  },
  coupon_gone: {
    code: 500,
    en: 'The coupon of this product cannot be issued any more',
    'zh-CN': '该商品的优惠券已无法发放',
  },
  coupon_refused: {
    code: 500,
    en: 'The coupon of this product has ended or is used up, or you have as many as you may have',
    'zh-CN': '该商品的优惠券已失效或已领完，或您已达到领取上限',
  },
  coupon_not_found: { code: 400, en: 'coupon_id: there is no such coupon', 'zh-CN': 'coupon_id：优惠券不存在' },
  cannot_move: {
    code: 500,
    en: 'Not possible in the status "{status}"',
    'zh-CN': '当前状态（{status}）不可执行此操作',
  },
  open_exchanges: {
    code: 500,
    en: 'The product has {count} exchanges that are not completed; take it off the shelf instead',
    'zh-CN': '该商品还有 {count} 笔未完成的兑换，无法删除，可先下架',
  },
  too_many_products: { code: 500, en: 'There are {max} products already', 'zh-CN': '积分商品已达 {max} 个' },
  image_address: {
    code: 400,
    en: '{field}: a picture must be a path of this shop or an http address',
    'zh-CN': '{field}：图片须为本站路径或 http 地址',
  },
  images_text: {
    code: 400,
    en: 'images: must be a list of at most {max} picture addresses, or its JSON text',
    'zh-CN': 'images：须为图片地址数组（最多 {max} 个）或其 JSON 文本',
  },
});
