import type { Localized } from '@tradepost/core';

const named = (...pairs: readonly (readonly [en: string, zh: string])[]): readonly Localized[] =>
  pairs.map(([en, zh]) => ({ en, 'zh-CN': zh }));

export const payMethodNames = named(['WeChat Pay', '微信支付'], ['Alipay', '支付宝'], ['Balance', '余额']);
export const priceNames = named(
  ['<50', '<50'],
  ['50-200', '50-200'],
  ['200-500', '200-500'],
  ['500-1000', '500-1000'],
  ['1000+', '1000+'],
);
export const stockNames = named(['Sufficient', '充足'], ['Low', '偏低'], ['Out of Stock', '缺货']);
export const customerNames = named(['New', '新客户'], ['Returning', '老客户']);
export const channelNames = named(
  ['Direct', '直接访问'],
  ['Search', '搜索引擎'],
  ['Social', '社交媒体'],
  ['Campaign', '推广活动'],
  ['Referral', '外部链接'],
);
export const deviceNames = named(['Desktop', '电脑'], ['Mobile', '手机'], ['Tablet', '平板'], ['Other', '其他']);
export const pageNames = named(
  ['Home', '首页'],
  ['Lists', '列表页'],
  ['Product', '商品页'],
  ['Cart', '购物车'],
  ['Other', '其他'],
);
export const stepNames = named(['Visit', '访问'], ['Cart', '加购'], ['Order', '下单'], ['Pay', '支付']);
export const rateNames = named(
  ['Visit to Cart', '访问加购率'],
  ['Cart to Order', '加购下单率'],
  ['Order to Pay', '下单支付率'],
);
export const rfmNames = named(['Recency', '最近消费'], ['Frequency', '消费频次'], ['Monetary', '消费金额']);
export const [noCategoryName, otherCategoriesName, allCustomersName, stayName, viewsName, visitorsName, customersName] =
  named(
    ['Uncategorized', '未分类'],
    ['Other', '其他'],
    ['All Customers', '全部客户'],
    ['Average Stay (s)', '平均停留（秒）'],
    ['Page Views', '浏览量'],
    ['Visitors', '访客数'],
    ['Customers', '客户数'],
  ) as [Localized, Localized, Localized, Localized, Localized, Localized, Localized];
/** Bands of the amount of an order, and of the number of orders of a customer. */
export const valueBands = ['0-50', '50-100', '100-300', '300-1000', '1000+'];
export const frequencyBands = ['1', '2', '3', '4+'];
