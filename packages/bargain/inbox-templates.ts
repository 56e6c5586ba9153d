import { toWire } from '@tradepost/core';
import { defineInboxTemplate, type InboxTemplate, type InboxTexts } from '@tradepost/module';
import { type BargainFacts, bargainFailed, bargainSucceeded } from './bargain-events.ts';

const ownerTemplate = (texts: InboxTexts<BargainFacts>): InboxTemplate =>
  defineInboxTemplate<BargainFacts, 'activity_name' | 'current_price'>({
    ...texts,
    group: 'marketing',
    params: ['activity_name', 'current_price'],
    receiver: ({ user_id }) => user_id,
    values: ({ activity_name, current_price }) => ({
      activity_name,
      current_price: toWire(current_price).toFixed(2),
    }),
    data: ({ bargain_order_id, product_id }) => ({ bargain_order_id, product_id }),
  });

export const bargainInboxTemplates: readonly InboxTemplate[] = [
  ownerTemplate({
    name: 'bargain_succeeded',
    about: 'a bargain of the shopper has reached its floor price',
    event: bargainSucceeded,
    title: { en: 'Your bargain has succeeded', 'zh-CN': '砍价成功' },
    content: {
      en: 'Your bargain of {activity_name} has reached {current_price}. Order it while the activity runs.',
      'zh-CN': '您的砍价「{activity_name}」已砍至 {current_price}，请在活动期间下单。',
    },
  }),
  ownerTemplate({
    name: 'bargain_failed',
    about: 'a bargain of the shopper did not reach its floor price in time',
    event: bargainFailed,
    title: { en: 'Your bargain has ended', 'zh-CN': '砍价失败' },
    content: {
      en: 'Your bargain of {activity_name} stood at {current_price} when its time was over.',
      'zh-CN': '您的砍价「{activity_name}」未在规定时间内砍至底价，当前价 {current_price}。',
    },
  }),
];
