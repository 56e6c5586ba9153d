import { maskedName, offerFields, ownNickname, productTitle, progressFields } from '@tradepost/activities';
import { amount, id, idOrZero, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { maxGroupSize } from './limits.ts';

const groupFields = {
  ...offerFields('Two for mugs'),
  group_price: amount(),
  leader_id: id(),
  group_size: z.int().meta({ examples: [2] }),
  joined_count: z
    .int()
    .max(maxGroupSize)
    .meta({ description: 'the leader counts', examples: [1] }),
  ...progressFields,
};
export const groupSchema = z.object(groupFields).meta({ id: 'GroupBuyOrder' });

export const adminGroupSchema = z
  .object({
    ...groupFields,
    leader_nickname: ownNickname(),
    product_title: productTitle(),
  })
  .meta({ id: 'AdminGroupBuyOrder' });

export const memberSchema = z
  .object({
    id: id(),
    group_order_id: id(),
    user_id: id(),
    order_id: idOrZero().meta({ description: '0: the leader has not ordered' }),
    is_leader: z.boolean(),
    user_nickname: maskedName('A***'),
    created_at: timestamp(),
  })
  .meta({ id: 'GroupBuyMember' });

export const joinGroupBody = z.object({ order_id: id() });
