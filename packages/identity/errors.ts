import { defineErrors } from '@tradepost/core';

export const identityErrors = defineErrors({
  invalid_login: { code: 401, en: 'Invalid username or password', 'zh-CN': '用户名或密码错误' },
  account_disabled: { code: 401, en: 'Account disabled', 'zh-CN': '账号已停用' },
  account_gone: { code: 401, status: 401, en: 'Token invalid or expired', 'zh-CN': '登录已失效，请重新登录' },
  too_many_failures: {
    code: 429,
    en: 'Too many failed logins: try again in {seconds} seconds',
    'zh-CN': '登录失败次数过多，请在 {seconds} 秒后重试',
  },

  sms_too_soon: {
    code: 429,
    en: 'A code was just sent: try again in {seconds} seconds',
    'zh-CN': '验证码刚刚发送，请在 {seconds} 秒后重试',
  },
  sms_too_many: {
    code: 429,
    en: 'Too many codes were asked for: try again in {seconds} seconds',
    'zh-CN': '获取验证码过于频繁，请在 {seconds} 秒后重试',
  },
  sms_not_set_up: { code: 500, en: 'Sending of codes is not set up', 'zh-CN': '短信发送尚未配置' },
  login_code_expired: { code: 10001, en: 'Verification code expired', 'zh-CN': '验证码已过期' },
  login_code_wrong: { code: 10001, en: 'Invalid verification code', 'zh-CN': '验证码错误' },
  login_code_dead: {
    code: 10001,
    en: 'Too many wrong codes: please get a new one',
    'zh-CN': '验证码错误次数过多，请重新获取',
  },
  sms_account_disabled: { code: 10001, en: 'Account disabled', 'zh-CN': '账号已停用' },
  delete_code_expired: { code: 10002, en: 'Verification code expired', 'zh-CN': '验证码已过期' },
  delete_code_wrong: { code: 10002, en: 'Invalid verification code', 'zh-CN': '验证码错误' },
  delete_code_dead: {
    code: 10002,
    en: 'Too many wrong codes: please get a new one',
    'zh-CN': '验证码错误次数过多，请重新获取',
  },
  delete_no_user: { code: 10002, en: 'User not found', 'zh-CN': '用户不存在' },
  delete_other_phone: {
    code: 10002,
    en: 'Phone number does not match account',
    'zh-CN': '手机号与账号不匹配',
  },
  wechat_off: { code: 401, en: 'WeChat login is not set up', 'zh-CN': '微信登录尚未配置' },
  wechat_failed: { code: 401, en: 'WeChat login failed', 'zh-CN': '微信登录失败' },

  address_not_found: { code: 404, en: 'Address not found', 'zh-CN': '收货地址不存在' },
  too_many_addresses: {
    code: 409,
    en: 'An account holds at most {max} addresses: remove one first',
    'zh-CN': '每个账号最多 {max} 个收货地址，请先删除一个',
  },
  username_taken: { code: 409, en: 'The user name {username} is taken', 'zh-CN': '用户名 {username} 已被使用' },
  shopper_not_found: { code: 404, en: 'There is no shopper {id}', 'zh-CN': '用户 {id} 不存在' },

  staff_not_found: { code: 404, en: 'There is no administrator {id}', 'zh-CN': '管理员 {id} 不存在' },
  role_not_found: { code: 404, en: 'There is no role {role}', 'zh-CN': '角色 {role} 不存在' },
  role_id_not_found: { code: 404, en: 'role_id: there is no role {role}', 'zh-CN': 'role_id：角色 {role} 不存在' },
  too_many_staff: { code: 409, en: 'There are at most {max} administrators', 'zh-CN': '管理员最多 {max} 个' },
  too_many_roles: { code: 409, en: 'There are at most {max} roles', 'zh-CN': '角色最多 {max} 个' },
  role_name_taken: { code: 409, en: 'name: there is a role {name} already', 'zh-CN': 'name：角色 {name} 已存在' },
  role_in_use: { code: 500, en: 'Role in use', 'zh-CN': '角色正在使用中' },
  unknown_permission: {
    code: 400,
    en: 'permissions: there is no permission {permission}',
    'zh-CN': 'permissions：权限 {permission} 不存在',
  },
  beyond_own_permissions: {
    code: 403,
    en: 'You can not manage what you may not do yourself: {permission}',
    'zh-CN': '不能管理超出自身权限的账号或角色：{permission}',
  },
  first_administrator: {
    code: 500,
    en: 'The first administrator can not be deleted or disabled',
    'zh-CN': '不能删除或停用首个管理员',
  },
  last_administrator: {
    code: 500,
    en: 'The last administrator who may do everything must stay',
    'zh-CN': '必须保留至少一名拥有全部权限的管理员',
  },
  own_account: {
    code: 500,
    en: 'You can not take your own access away',
    'zh-CN': '不能移除自己的访问权限',
  },
});
