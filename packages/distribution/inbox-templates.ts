import { toWire } from '@tradepost/core';
import { defineInboxTemplate, type InboxTemplate, type InboxTexts } from '@tradepost/module';
import {
  distributorApproved,
  type WithdrawalFacts,
  withdrawalApproved,
  withdrawalCompleted,
  withdrawalRejected,
} from './distribution-events.ts';

const withdrawalTemplate = <Facts extends WithdrawalFacts & { reason?: string }>(
  texts: InboxTexts<Facts>,
): InboxTemplate =>
  defineInboxTemplate<Facts, 'amount' | 'actual_amount' | 'reason'>({
    ...texts,
    group: 'system',
    params: ['amount', 'actual_amount', 'reason'],
    receiver: ({ user_id }) => user_id,
    values: ({ amount, actual_amount, reason = '' }) => ({
      amount: toWire(amount).toFixed(2),
      actual_amount: toWire(actual_amount).toFixed(2),
      reason,
    }),
    data: ({ withdrawal_id }) => ({ withdrawal_id }),
  });

/** Acts of the shopper write no message: applying, and asking for a withdrawal. */
export const distributionInboxTemplates: readonly InboxTemplate[] = [
  defineInboxTemplate<{ distributor_id: number; user_id: number }, never>({
    name: 'distributor_approved',
    about: 'a shopper has become a distributor',
    event: distributorApproved,
    group: 'system',
    title: { en: 'You are a distributor now', 'zh-CN': '您已成为分销商' },
    content: {
      en: 'Your application was approved. You earn commissions on the orders of your customers.',
      'zh-CN': '您的分销申请已通过，客户下单后您将获得佣金。',
    },
    params: [],
    receiver: ({ user_id }) => user_id,
    values: () => ({}),
    data: ({ distributor_id }) => ({ distributor_id }),
  }),
  withdrawalTemplate({
    name: 'withdrawal_approved',
    about: 'the merchant approved a withdrawal of a distributor',
    event: withdrawalApproved,
    title: { en: 'Withdrawal approved', 'zh-CN': '提现审核通过' },
    content: {
      en: 'Your withdrawal of {amount} was approved and will be paid soon.',
      'zh-CN': '您的提现申请（{amount}）已通过审核，即将打款。',
    },
  }),
  withdrawalTemplate({
    name: 'withdrawal_completed',
    about: 'a withdrawal of a distributor was paid',
    event: withdrawalCompleted,
    title: { en: 'Withdrawal paid', 'zh-CN': '提现已到账' },
    content: {
      en: 'Your withdrawal of {amount} was paid: {actual_amount} after the fee.',
      'zh-CN': '您的提现（{amount}）已打款，实际到账 {actual_amount}。',
    },
  }),
  withdrawalTemplate({
    name: 'withdrawal_rejected',
    about: 'the merchant rejected a withdrawal of a distributor',
    event: withdrawalRejected,
    title: { en: 'Withdrawal rejected', 'zh-CN': '提现被驳回' },
    content: {
      en: 'Your withdrawal of {amount} was rejected: {reason}. The amount is available again.',
      'zh-CN': '您的提现申请（{amount}）被驳回：{reason}，金额已退回可提现余额。',
    },
  }),
];
