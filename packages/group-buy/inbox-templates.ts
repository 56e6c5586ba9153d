import { defineInboxTemplate, type InboxTemplate, type InboxTexts } from '@tradepost/module';
import { groupFailed, groupSucceeded, type MemberFacts } from './group-events.ts';

const memberTemplate = (texts: InboxTexts<MemberFacts>): InboxTemplate =>
  defineInboxTemplate<MemberFacts, 'activity_name' | 'group_size'>({
    ...texts,
    group: 'order',
    params: ['activity_name', 'group_size'],
    receiver: ({ user_id }) => user_id,
    values: ({ activity_name, group_size }) => ({ activity_name, group_size: String(group_size) }),
    data: ({ group_order_id, order_id }) => ({ group_order_id, order_id }),
  });

export const groupInboxTemplates: readonly InboxTemplate[] = [
  memberTemplate({
    name: 'group_buy_succeeded',
    about: 'a group of the shopper is complete',
    event: groupSucceeded,
    title: { en: 'Your group is complete', 'zh-CN': '拼团成功' },
    content: {
      en: 'All {group_size} members have joined your group of {activity_name}. We ship the paid orders.',
      'zh-CN': '您参加的拼团「{activity_name}」已满 {group_size} 人，已付款的订单将尽快发货。',
    },
  }),
  memberTemplate({
    name: 'group_buy_failed',
    about: 'a group of the shopper was not complete in time',
    event: groupFailed,
    title: { en: 'Your group was not completed', 'zh-CN': '拼团失败' },
    content: {
      en: 'Your group of {activity_name} did not reach {group_size} members in time. A paid order is refunded in full.',
      'zh-CN': '您参加的拼团「{activity_name}」未在规定时间内满 {group_size} 人，已付款的订单将全额退款。',
    },
  }),
];
