import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, idOrZero, idParams, nothing, pagedOf, pageQueryWith, type Route } from '@tradepost/http';
import { inboxGroups } from '@tradepost/module';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { messageCentreErrors } from '../errors.ts';
import { maxAdminPage } from '../limits.ts';
import { countsByGroup, messageView } from '../messages/message-views.ts';
import { sendMessages } from '../messages/send-messages.ts';
import { adminMessageSchema, groupFilter, sendBody, unreadCounts } from '../schemas.ts';
import type { ReadTexts } from '../templates/message-texts.ts';
import { countUnreadByStaff, markReadByStaff, selectMessages } from './admin-message-store.ts';

const tag = 'Messages (admin)';

export const adminMessageRoutes = (runtime: Runtime, texts: ReadTexts): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/admin/api/messages',
    auth: 'staff',
    permission: 'message:view',
    tag,
    summary: 'Messages to shoppers, newest first',
    query: pageQueryWith({ group: groupFilter, user_id: idOrZero().optional() }),
    response: pagedOf(adminMessageSchema, maxAdminPage),
    statements: 1,
    async handle({ query, locale }) {
      const paging = pagingOf(query, { cap: maxAdminPage });
      const filter = { group: query.group ?? null, user_id: query.user_id ?? null };
      const { rows, total } = await selectMessages(runtime.sql, filter, paging);
      const view = { texts, zone: runtime.settings.get(timeZone), locale };
      const list = rows.map((row) => ({
        ...messageView(row, view),
        read_by_user: row.read_by_user ? (1 as const) : (0 as const),
        user_nickname: row.user_nickname,
      }));
      return paged(list, total, paging);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/api/messages/unread-counts',
    auth: 'staff',
    permission: 'message:view',
    tag,
    summary: 'The number of sent messages that staff have not opened, by group',
    response: unreadCounts,
    statements: 1,
    async handle() {
      return countsByGroup(inboxGroups, await countUnreadByStaff(runtime.sql, inboxGroups));
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/api/messages/send',
    auth: 'staff',
    permission: 'message:send',
    tag,
    summary: 'Send a message to one shopper or to all shoppers',
    description: 'Plain text. Shoppers who register later do not see a message to all.',
    body: sendBody,
    response: nothing,
    refuses: [
      messageCentreErrors.shopper_not_found,
      messageCentreErrors.markup,
      messageCentreErrors.too_many_sent,
      messageCentreErrors.too_many_broadcasts,
    ],
    repeat: 'recorded',
    statements: 5,
    async handle({ caller, body: { group, ...message }, write }) {
      await write((tx) => sendMessages(tx, runtime, [{ ...message, message_group: group, staff_id: caller.id }]));
      return null;
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/admin/api/messages/:id/read',
    auth: 'staff',
    permission: 'message:view',
    tag,
    summary: 'Mark a message as opened by staff; the state of the shopper does not change',
    params: idParams,
    response: nothing,
    notLogged: 'That staff have opened a message is no change of the shop.',
    refuses: [messageCentreErrors.message_not_found],
    repeat: 'recorded',
    statements: 1,
    async handle({ params, write }) {
      const found = await write((tx) => markReadByStaff(tx, [params.id], runtime.now()));
      if (found.length === 0) throw messageCentreErrors.message_not_found();
      return null;
    },
  }),
];
