import type { AttemptKind } from '@tradepost/activities';
import { groupBuyErrors } from './errors.ts';
import { type Group, groupView, type Member, memberView } from './group.ts';
import { groupBuyKind } from './group-buy-kind.ts';
import { groupColumns, selectMembers } from './groups/group-store.ts';
import { maxGroupSize } from './limits.ts';
import { adminGroupSchema, groupSchema, memberSchema } from './schemas.ts';

type GroupView = ReturnType<typeof groupView>;
type AdminGroupView = GroupView & { leader_nickname: string; product_title: string };

/** How shoppers and staff read groups. */
export const groupAttempts: AttemptKind<Group, GroupView, AdminGroupView, Member, ReturnType<typeof memberView>> = {
  kind: groupBuyKind,
  adminTag: 'Group buy (admin)',
  summaries: {
    list: 'Groups of group buys, newest first',
    one: 'One group',
    shared: 'One group, of any leader: shoppers invite each other',
    parts: 'The members of a group, the leader first',
  },
  notFound: groupBuyErrors.group_not_found,
  rows: (sql) => sql`(select ${groupColumns(sql)} from group_buy.groups g)`,
  openedBy: 'leader_id',
  schema: groupSchema,
  adminSchema: adminGroupSchema,
  view: groupView,
  adminView: (view, { nickname, product_title }) => ({ ...view, leader_nickname: nickname, product_title }),
  participants: {
    path: 'members',
    most: maxGroupSize,
    select: selectMembers,
    schema: memberSchema,
    view: memberView,
  },
};
