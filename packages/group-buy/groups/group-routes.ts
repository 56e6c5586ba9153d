import { attemptRoutes, offerRefusals, openAttemptBody } from '@tradepost/activities';
import { defineRoute, idParams, nothing, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { groupBuyErrors } from '../errors.ts';
import { groupView } from '../group.ts';
import { groupAttempts } from '../group-attempts.ts';
import { groupSchema, joinGroupBody } from '../schemas.ts';
import { joinGroup } from './join-group.ts';
import { openGroup } from './open-group.ts';

const shopper = { auth: 'shopper', tag: 'Group buys' } as const;

export const groupRoutes = (runtime: Runtime): Route[] => [
  defineRoute({
    ...shopper,
    method: 'POST',
    path: '/api/v1/group-buy/orders',
    summary: 'Open a group; the caller is its leader and first member',
    description:
      'The order of the leader for this product is attached: one that waits for payment or shipment already, or else the next one.',
    body: openAttemptBody({ activity_id: 2, product_id: 14, sku_id: 41 }),
    response: groupSchema,
    refuses: [...offerRefusals, groupBuyErrors.too_many_groups],
    repeat: 'recorded',
    statements: 7,
    handle: ({ caller, body, write, locale }) =>
      write(async (tx) =>
        groupView(await openGroup(tx, { user_id: caller.id, ...body }, runtime.now()), {
          zone: runtime.settings.get(timeZone),
          locale,
        }),
      ),
  }),
  ...attemptRoutes(runtime, groupAttempts),
  defineRoute({
    ...shopper,
    method: 'POST',
    path: '/api/v1/group-buy/orders/:id/join',
    summary: 'Join a group with one of my orders; the last member completes the group',
    description:
      'The order waits for payment or shipment and has a line of the group. For the leader, whose order is attached already, it changes nothing.',
    params: idParams,
    body: joinGroupBody,
    response: nothing,
    refuses: [
      groupBuyErrors.group_not_found,
      groupBuyErrors.group_full,
      groupBuyErrors.group_ended,
      groupBuyErrors.group_expired,
      groupBuyErrors.already_member,
      groupBuyErrors.order_in_group,
      groupBuyErrors.order_not_found,
      groupBuyErrors.order_not_open,
      groupBuyErrors.order_without_offer,
    ],
    repeat: 'recorded',
    statements: 9,
    async handle({ caller, params, body, write }) {
      await write((tx) =>
        joinGroup(tx, { group_id: params.id, user_id: caller.id, order_id: body.order_id }, runtime.now()),
      );
      return null;
    },
  }),
];
