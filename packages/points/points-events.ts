import { defineInboxTemplate, type InboxTemplate } from '@tradepost/module';
import { defineEvent } from '@tradepost/runtime';
import { z } from 'zod';

const facts = z.object({
  user_id: z.number().describe('the shopper'),
  points: z.number().describe('the points that the shopper lost'),
  balance: z.number().describe('the points that are left'),
});
const subject = ({ user_id }: { user_id: number }) => `shopper:${user_id}`;

export const pointsExpired = defineEvent({
  name: 'points.expired',
  about: 'points of a shopper have expired',
  data: facts,
  subject,
});
export const pointsAdjusted = defineEvent({
  name: 'points.adjusted',
  about: 'the merchant changed the points of a shopper',
  data: facts.extend({ points: z.number().describe('the change, negative for less'), remark: z.string() }),
  subject,
});
export const pointsEvents = [pointsExpired, pointsAdjusted];

const valuesOf = ({ points, balance }: { points: number; balance: number }) => ({
  points: String(points),
  balance: String(balance),
});

export const pointsInboxTemplates: readonly InboxTemplate[] = [
  defineInboxTemplate({
    name: 'points_expired',
    about: 'points of the shopper have expired',
    event: pointsExpired,
    group: 'marketing',
    params: ['points', 'balance'],
    receiver: ({ user_id }) => user_id,
    values: valuesOf,
    data: () => ({}),
    title: { en: 'Points expired', 'zh-CN': '积分过期' },
    content: {
      en: '{points} of your points have expired. You have {balance} points.',
      'zh-CN': '您有 {points} 积分已过期，当前积分 {balance}。',
    },
  }),
  defineInboxTemplate({
    name: 'points_adjusted',
    about: 'the merchant changed the points of the shopper',
    event: pointsAdjusted,
    group: 'marketing',
    params: ['points', 'balance'],
    receiver: ({ user_id }) => user_id,
    values: ({ points, balance }) => ({ points: points > 0 ? `+${points}` : String(points), balance: String(balance) }),
    data: () => ({}),
    title: { en: 'Points changed', 'zh-CN': '积分变动' },
    content: {
      en: 'The shop has changed your points: {points}. You have {balance} points.',
      'zh-CN': '商家调整了您的积分：{points}，当前积分 {balance}。',
    },
  }),
];
