import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, nothing, pagedOf, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { backofficeErrors } from '../errors.ts';
import {
  announcementBody,
  announcementChangeBody,
  announcementQuery,
  announcementView,
} from './announcement-schemas.ts';
import { selectAnnouncements, withdrawAnnouncements } from './announcement-store.ts';
import { announcementViewOf, spanOf } from './announcement-view.ts';
import { maxAnnouncementPage } from './limits.ts';
import { createAnnouncement, editAnnouncement } from './save-announcement.ts';

const tag = 'Announcements';
/** The permission for writing, and for reading announcements that are not visible. */
const manage = 'system:config';

export function announcementRoutes({ sql, settings }: Runtime): Route[] {
  const zone = () => settings.get(timeZone);

  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/announcements',
      auth: 'staff',
      tag,
      summary: 'Announcements for the staff, newest first',
      query: announcementQuery,
      response: pagedOf(announcementView, maxAnnouncementPage),
      refuses: [backofficeErrors.hidden_announcements],
      statements: 1,
      async handle({ query, caller }) {
        const { state = 'visible' } = query;
        if (state !== 'visible' && !caller.perms.includes(manage) && !caller.perms.includes('*'))
          throw backofficeErrors.hidden_announcements();
        const paging = pagingOf(query, { cap: maxAnnouncementPage });
        const { rows, total } = await selectAnnouncements(sql, state === 'all' ? null : state, paging);
        const views = rows.map((row) => announcementViewOf(row, zone()));
        return paged(views, total, paging);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/announcements',
      auth: 'staff',
      permission: manage,
      tag,
      summary: 'Create an announcement',
      body: announcementBody,
      response: announcementView,
      refuses: [
        backofficeErrors.invalid_time,
        backofficeErrors.ends_before_start,
        backofficeErrors.too_many_announcements,
      ],
      repeat: 'recorded',
      statements: 3,
      handle({ body, write }) {
        const { title, content, type } = body;
        const { starts_at = null, ends_at = null } = spanOf(body, zone());
        return write(async (tx) =>
          announcementViewOf(await createAnnouncement(tx, { title, content, type, starts_at, ends_at }), zone()),
        );
      },
    }),
    defineRoute({
      method: 'PUT',
      path: '/admin/api/announcements/:id',
      auth: 'staff',
      permission: manage,
      tag,
      summary: 'Edit an announcement; absent fields stay unchanged',
      params: idParams,
      body: announcementChangeBody,
      response: nothing,
      refuses: [
        backofficeErrors.announcement_not_found,
        backofficeErrors.invalid_time,
        backofficeErrors.ends_before_start,
      ],
      repeat: 'recorded',
      statements: 2,
      async handle({ params, body, write }) {
        const { title, content, type } = body;
        const span = spanOf(body, zone());
        await write((tx) => editAnnouncement(tx, params.id, { title, content, type, ...span }));
        return null;
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/admin/api/announcements/:id',
      auth: 'staff',
      permission: manage,
      tag,
      summary: 'Withdraw an announcement: it is no longer listed',
      params: idParams,
      response: nothing,
      refuses: [backofficeErrors.announcement_not_found],
      repeat: 'recorded',
      statements: 1,
      async handle({ params, write }) {
        const { id } = params;
        await write(async (tx) => {
          if ((await withdrawAnnouncements(tx, [id])).length === 0)
            throw backofficeErrors.announcement_not_found({ id });
        });
        return null;
      },
    }),
  ];
}
