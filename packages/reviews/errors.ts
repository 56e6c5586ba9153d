import { defineErrors } from '@tradepost/core';

export const reviewErrors = defineErrors({
  order_not_found: { code: 404, en: 'Order not found', 'zh-CN': '订单不存在' },
  review_not_found: { code: 404, en: 'Review not found', 'zh-CN': '评价不存在' },
  cannot_review: { code: 500, en: 'Cannot review in current status', 'zh-CN': '当前状态不可评价' },
  item_not_found: { code: 500, en: 'Order item not found', 'zh-CN': '订单商品不存在' },
  item_twice: { code: 400, en: 'items: a line is there twice', 'zh-CN': 'items：同一商品行重复' },
  nothing_written: {
    code: 400,
    en: 'items: name at least one line, or send content or images for all lines',
    'zh-CN': 'items：请至少选择一个商品，或为全部商品填写 content 或 images',
  },
  already_reviewed: { code: 500, en: 'The item has been reviewed already', 'zh-CN': '该商品已评价' },
  not_reviewed: { code: 500, en: 'The item has not been reviewed yet', 'zh-CN': '该商品尚未评价' },
  append_empty: {
    code: 500,
    en: 'Please enter a text or add a picture',
    'zh-CN': '请填写追评内容或上传图片',
  },
  too_many_appends: {
    code: 500,
    en: 'A review holds at most {max} additions',
    'zh-CN': '每条评价最多追评 {max} 次',
  },
  too_many_images: { code: 400, en: '{field}: at most {max} pictures', 'zh-CN': '{field}：最多 {max} 张图片' },
  image_address: {
    code: 400,
    en: '{field}: a picture must be a path of this shop or an http address',
    'zh-CN': '{field}：图片须为本站路径或 http 地址',
  },
});
