import { defineErrors } from '@tradepost/core';

export const backofficeErrors = defineErrors({
  link: {
    code: 400,
    en: '{field}: must be an http(s) address or a path that begins with /',
    'zh-CN': '{field}：须为 http(s) 地址或以 / 开头的路径',
  },
  colour: {
    code: 400,
    en: '{field}: must be a CSS colour such as #1f6feb',
    'zh-CN': '{field}：须为 CSS 颜色，例如 #1f6feb',
  },
  phone: { code: 400, en: '{field}: must be a phone number', 'zh-CN': '{field}：须为电话号码' },
  minutes: {
    code: 400,
    en: '{field}: must be a whole number of minutes from 1 to {max}',
    'zh-CN': '{field}：须为 1 到 {max} 的整数分钟',
  },
  fixed_by_file: {
    code: 409,
    en: '{field} is set in the configuration file ({key}), which wins',
    'zh-CN': '{field} 已在配置文件中设定（{key}），以配置文件为准',
  },
  no_orders: {
    code: 409,
    en: 'order_auto_cancel_minutes: orders are switched off',
    'zh-CN': 'order_auto_cancel_minutes：订单模块未启用',
  },
});
