import { defineErrors } from '@tradepost/core';

export const identityErrors = defineErrors({
  invalid_login: { code: 401, en: 'Invalid username or password', 'zh-CN': '用户名或密码错误' },
  account_disabled: { code: 401, en: 'Account disabled', 'zh-CN': '账号已停用' },
  account_gone: { code: 401, status: 401, en: 'Token invalid or expired', 'zh-CN': '登录已失效，请重新登录' },
  address_not_found: { code: 404, en: 'Address not found', 'zh-CN': '收货地址不存在' },
  username_taken: { code: 409, en: 'The user name {username} is taken', 'zh-CN': '用户名 {username} 已被使用' },
  role_not_found: { code: 404, en: 'There is no role {role}', 'zh-CN': '角色 {role} 不存在' },
});
