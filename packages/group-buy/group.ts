import { type Attempt, type AttemptReader, attemptProgress } from '@tradepost/activities';
import { isoInZone, type Labels, type Minor, toWire } from '@tradepost/core';

const groupStatusLabels: Labels = {
  pending: { en: 'Pending', 'zh-CN': '拼团中' },
  success: { en: 'Success', 'zh-CN': '拼团成功' },
  failed: { en: 'Failed', 'zh-CN': '拼团失败' },
};

/** A group. `sku_id` 0 is any SKU of the product. `group_price` is in minor units. */
export type Group = Attempt & { group_price: Minor; leader_id: number; group_size: number; joined_count: number };

/** A member of a group. `order_id` is null for a leader who has not ordered. */
export type Member = {
  id: number;
  group_id: number;
  user_id: number;
  order_id: number | null;
  is_leader: boolean;
  user_nickname: string;
  created_at: Date;
};

export const groupView = (group: Group, reader: AttemptReader) => ({
  ...group,
  group_price: toWire(group.group_price),
  ...attemptProgress(group, groupStatusLabels, reader),
});

export const memberView = ({ group_id, order_id, ...member }: Member, { zone }: AttemptReader) => ({
  ...member,
  group_order_id: group_id,
  order_id: order_id ?? 0,
  created_at: isoInZone(member.created_at, zone),
});
