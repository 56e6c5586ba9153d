import { defineErrors } from '@tradepost/core';

/** Refusals of this package have the code 1, as the clients of the contract expect. */
export const distributionErrors = defineErrors({
  closed: { code: 1, en: 'Distribution is not open', 'zh-CN': '分销功能未开启' },
  missing_field: { code: 400, en: '{field}: is missing', 'zh-CN': '{field}：缺少' },
  already_applied: { code: 1, en: 'You have applied already', 'zh-CN': '您已提交过申请' },
  parent_not_found: { code: 1, en: 'The referring distributor does not exist', 'zh-CN': '推荐分销商不存在' },
  not_distributor: { code: 1, en: 'You are not a distributor', 'zh-CN': '您还不是分销商' },
  distributor_inactive: { code: 1, en: 'The distributor is not active', 'zh-CN': '分销商未启用' },
  distributor_not_found: { code: 1, en: 'Distributor not found', 'zh-CN': '分销商不存在' },
  account_deleted: {
    code: 1,
    en: 'The shopper deleted the account, so the distributor stays disabled',
    'zh-CN': '该用户已注销账号，分销商无法启用',
  },
  bind_distributor: {
    code: 1,
    en: 'A distributor cannot be the customer of a distributor',
    'zh-CN': '分销商不能绑定为客户',
  },
  already_bound: {
    code: 1,
    en: 'You belong to another distributor already',
    'zh-CN': '您已绑定其他分销商',
  },
  has_paid_order: {
    code: 1,
    en: 'Only shoppers without a paid order can be bound to a distributor',
    'zh-CN': '已有付款订单的用户不能绑定分销商',
  },
  commission_not_found: { code: 1, en: 'Commission not found', 'zh-CN': '佣金记录不存在' },
  order_not_paid: {
    code: 1,
    en: 'The order of the commission is not paid',
    'zh-CN': '佣金对应的订单未付款',
  },
  cannot_settle: { code: 1, en: 'Only a pending commission can be settled', 'zh-CN': '仅待结算的佣金可以结算' },
  cannot_return: { code: 1, en: 'The commission was returned already', 'zh-CN': '该佣金已退回' },
  withdrawal_not_found: { code: 1, en: 'Withdrawal not found', 'zh-CN': '提现记录不存在' },
  below_minimum: { code: 1, en: 'The smallest withdrawal is {min}', 'zh-CN': '最低提现金额为 {min}' },
  insufficient_balance: { code: 1, en: 'The available amount is too small', 'zh-CN': '可提现金额不足' },
  too_many_open: {
    code: 1,
    en: 'There are {max} withdrawals that have not ended yet',
    'zh-CN': '未完成的提现申请已达 {max} 笔',
  },
  cannot_approve: { code: 1, en: 'Only a pending withdrawal can be approved', 'zh-CN': '仅待审核的提现可以通过' },
  cannot_reject: {
    code: 1,
    en: 'Only a pending or approved withdrawal can be rejected',
    'zh-CN': '仅待审核或待打款的提现可以驳回',
  },
  cannot_complete: { code: 1, en: 'Only an approved withdrawal can be completed', 'zh-CN': '仅待打款的提现可以完成' },
  rates_too_high: {
    code: 1,
    en: 'The rates of the levels add up to more than 100 %',
    'zh-CN': '各级佣金比例之和不能超过 100%',
  },
});
