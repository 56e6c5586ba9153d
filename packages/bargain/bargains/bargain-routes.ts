import { attemptRoutes, offerRefusals, openAttemptBody } from '@tradepost/activities';
import { toWire } from '@tradepost/core';
import { defineRoute, idParams, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { bargainView } from '../bargain.ts';
import { bargainAttempts } from '../bargain-attempts.ts';
import { bargainErrors } from '../errors.ts';
import { bargainSchema, cutSchema } from '../schemas.ts';
import { helpBargain } from './help-bargain.ts';
import { openBargain } from './open-bargain.ts';

const shopper = { auth: 'shopper', tag: 'Bargains' } as const;

export const bargainRoutes = (runtime: Runtime): Route[] => [
  defineRoute({
    ...shopper,
    method: 'POST',
    path: '/api/v1/bargain/orders',
    summary: 'Open a bargain; my bargain for this product, when I have one that is open or not bought',
    body: openAttemptBody({ activity_id: 3, product_id: 5, sku_id: 15 }),
    response: bargainSchema,
    refuses: offerRefusals,
    repeat: 'recorded',
    // Four for a new bargain; two more fail one that has expired.
    statements: 6,
    handle: ({ caller, body, write, locale }) =>
      write(async (tx) =>
        bargainView(await openBargain(tx, { user_id: caller.id, ...body }, runtime.now()), {
          zone: runtime.settings.get(timeZone),
          locale,
        }),
      ),
  }),
  ...attemptRoutes(runtime, bargainAttempts),
  defineRoute({
    ...shopper,
    method: 'POST',
    path: '/api/v1/bargain/orders/:id/help',
    summary: 'Help a bargain of another shopper, once; the last helper cuts to the floor price',
    params: idParams,
    response: cutSchema,
    refuses: [
      bargainErrors.bargain_not_found,
      bargainErrors.already_helped,
      bargainErrors.own_bargain,
      bargainErrors.bargain_succeeded,
      bargainErrors.bargain_failed,
      bargainErrors.bargain_expired,
    ],
    repeat: 'recorded',
    statements: 4,
    async handle({ caller, params, write }) {
      const cut = await write((tx) => helpBargain(tx, { bargain_id: params.id, user_id: caller.id }, runtime.now()));
      return { cut_amount: toWire(cut) };
    },
  }),
];
