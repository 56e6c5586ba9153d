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
  invalid_time: {
    code: 400,
    en: '{field}: must be a date (2026-03-01) or a time (2026-03-01T09:30:00)',
    'zh-CN': '{field}：须为日期（2026-03-01）或时间（2026-03-01T09:30:00）',
  },
  ends_before_start: {
    code: 400,
    en: 'ends_at: must be after starts_at',
    'zh-CN': 'ends_at：必须晚于 starts_at',
  },
  announcement_not_found: { code: 404, en: 'There is no announcement {id}', 'zh-CN': '公告 {id} 不存在' },
  too_many_announcements: {
    code: 409,
    en: 'There are at most {max} announcements: withdraw one first',
    'zh-CN': '公告最多 {max} 条，请先撤回一条',
  },
  hidden_announcements: {
    code: 403,
    en: 'state: only visible announcements, without the permission system:config',
    'zh-CN': 'state：没有 system:config 权限，只能查看可见的公告',
  },
  no_plugin: {
    code: 404,
    en: 'plugin: there is no configuration of {plugin}',
    'zh-CN': 'plugin：没有名为 {plugin} 的配置',
  },
  config_value: { code: 400, en: '{reason}', 'zh-CN': '{reason}' },
  no_orders: {
    code: 409,
    en: 'order_auto_cancel_minutes: orders are switched off',
    'zh-CN': 'order_auto_cancel_minutes：订单模块未启用',
  },
});
