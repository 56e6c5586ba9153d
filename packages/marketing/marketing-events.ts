import { defineInboxTemplate, type InboxTemplate } from '@tradepost/module';
import { defineEvent } from '@tradepost/runtime';
import { z } from 'zod';

const issuedFacts = z.object({
  user_coupon_id: z.number(),
  coupon_id: z.number(),
  coupon_name: z.string(),
  user_id: z.number().describe('the shopper'),
  source: z.string().describe('claim, send, or the package that gave it away, such as vip'),
});
export type IssuedFacts = z.infer<typeof issuedFacts>;

export const couponIssued = defineEvent({
  name: 'coupon.issued',
  about: 'a shopper got a coupon',
  data: issuedFacts,
  subject: ({ user_coupon_id }) => `user_coupon:${user_coupon_id}`,
});

/** A shopper who claimed a coupon needs no message about it. */
export const couponTemplates: readonly InboxTemplate[] = [
  defineInboxTemplate<IssuedFacts, 'name'>({
    name: 'coupon_sent',
    about: 'staff sent a coupon to a shopper',
    event: couponIssued,
    group: 'marketing',
    applies: ({ source }) => source === 'send',
    title: { en: 'A coupon for you', 'zh-CN': '您收到一张优惠券' },
    content: {
      en: 'You have received the coupon {name}. You find it in your coupons.',
      'zh-CN': '您收到优惠券“{name}”，可在我的优惠券中查看。',
    },
    params: ['name'],
    values: ({ coupon_name }) => ({ name: coupon_name }),
    receiver: ({ user_id }) => user_id,
    data: ({ coupon_id, user_coupon_id }) => ({ coupon_id, user_coupon_id }),
  }),
];
