import { defineInboxTemplate, type InboxTemplate } from '@tradepost/module';
import { type MembershipOpened, membershipOpened } from './vip-events.ts';

export const vipInboxTemplates: readonly InboxTemplate[] = [
  defineInboxTemplate<MembershipOpened, 'plan' | 'end'>({
    name: 'vip_opened',
    about: 'a membership was opened or extended',
    event: membershipOpened,
    group: 'system',
    title: { en: 'Membership opened', 'zh-CN': '会员已开通' },
    content: {
      en: 'Your membership {plan} is valid until {end}.',
      'zh-CN': '您的会员「{plan}」有效期至 {end}。',
    },
    params: ['plan', 'end'],
    values: ({ plan_name, vip_end_at }) => ({ plan: plan_name, end: vip_end_at.slice(0, 10) }),
    receiver: ({ user_id }) => user_id,
    data: ({ plan_id }) => ({ plan_id }),
  }),
];
