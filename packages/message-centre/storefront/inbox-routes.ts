import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, id, list, nothing, pagedOf, pageQueryWith, type Route } from '@tradepost/http';
import { selectShopper } from '@tradepost/identity';
import { inboxGroups } from '@tradepost/module';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { z } from 'zod';
import { maxInboxPage, maxReadIds } from '../limits.ts';
import { countsByGroup, messageView } from '../messages/message-views.ts';
import { groupFilter, inboxMessageSchema, unreadCounts } from '../schemas.ts';
import type { ReadTexts } from '../templates/message-texts.ts';
import { countUnread, type InboxOwner, markAllRead, markRead, selectInbox } from './inbox-store.ts';

const tag = 'Messages';

export function inboxRoutes({ sql, settings, now }: Runtime, texts: ReadTexts): Route[] {
  async function ownerOf({ id: user_id }: { readonly id: number }): Promise<InboxOwner> {
    const shopper = await selectShopper(sql, user_id);
    return { user_id, since: shopper?.created_at ?? now() };
  }
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/messages',
      auth: 'shopper',
      tag,
      summary: 'My messages and messages to all shoppers, newest first',
      query: pageQueryWith({ group: groupFilter }),
      response: pagedOf(inboxMessageSchema, maxInboxPage),
      statements: 2,
      async handle({ caller, query, locale }) {
        const paging = pagingOf(query, { cap: maxInboxPage });
        const groups = query.group ? [query.group] : inboxGroups;
        const { rows, total } = await selectInbox(sql, await ownerOf(caller), groups, paging);
        const view = { texts, zone: settings.get(timeZone), locale };
        return paged(
          rows.map((row) => messageView(row, view)),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/messages/unread',
      auth: 'shopper',
      tag,
      summary: 'The number of my unread messages by group',
      response: unreadCounts,
      statements: 2,
      async handle({ caller }) {
        return countsByGroup(inboxGroups, await countUnread(sql, await ownerOf(caller), inboxGroups));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/messages/read',
      auth: 'shopper',
      tag,
      summary: 'Mark messages as read; ids of others are ignored',
      body: z.object({ ids: list(id(), maxReadIds) }),
      response: nothing,
      repeat: 'natural',
      statements: 2,
      async handle({ caller, body }) {
        if (body.ids.length > 0) await markRead(sql, await ownerOf(caller), body.ids, now());
        return null;
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/messages/read-all',
      auth: 'shopper',
      tag,
      summary: 'Mark all my messages as read, of one group or of all groups',
      body: z.object({ group: groupFilter }),
      response: nothing,
      repeat: 'natural',
      statements: 1,
      async handle({ caller, body }) {
        await markAllRead(sql, caller.id, body.group ? [body.group] : inboxGroups, now());
        return null;
      },
    }),
  ];
}
