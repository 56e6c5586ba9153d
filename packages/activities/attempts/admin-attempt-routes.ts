import { textsIn } from '@tradepost/catalog';
import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, list, pagedOf, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { maxAdminPage } from '../limits.ts';
import type { Attempt, AttemptReader } from './attempt.ts';
import type { AttemptKind, Participant } from './attempt-kind.ts';
import { attemptQuery } from './attempt-schemas.ts';
import { type NamedAttempt, selectAttempt, selectAttempts, selectNamedAttempt } from './attempt-store.ts';

/** The routes with which staff read attempts and their participants. */
export function adminAttemptRoutes<
  Row extends Attempt,
  View,
  AdminView,
  Part extends Participant,
  PartView extends { user_nickname: string },
>({ sql, settings }: Runtime, attempts: AttemptKind<Row, View, AdminView, Part, PartView>): Route[] {
  const { kind, notFound, participants } = attempts;
  const staff = { auth: 'staff', permission: kind.permissions.view, tag: attempts.adminTag, method: 'GET' } as const;
  const one = { ...staff, params: idParams, refuses: [notFound] } as const;
  const path = `/admin/api/${kind.path}/orders`;
  const adminView = ({ row, nickname, title, translations }: NamedAttempt<Row>, reader: AttemptReader) =>
    attempts.adminView(attempts.view(row, reader), {
      nickname,
      product_title: textsIn({ title, subtitle: '', translations }, reader.locale).title,
    });

  return [
    defineRoute({
      ...staff,
      path,
      summary: attempts.summaries.list,
      query: attemptQuery,
      response: pagedOf(attempts.adminSchema, maxAdminPage),
      statements: 1,
      async handle({ query, locale }) {
        const paging = pagingOf(query, { cap: maxAdminPage });
        const status = query.status === undefined || query.status === '-1' ? null : query.status;
        const filter = { activity_id: query.activity_id || null, status };
        const found = await selectAttempts<Row>(sql, attempts, filter, paging);
        const reader = { zone: settings.get(timeZone), locale };
        return paged(
          found.attempts.map((attempt) => adminView(attempt, reader)),
          found.total,
          paging,
        );
      },
    }),
    defineRoute({
      ...one,
      path: `${path}/:id`,
      summary: attempts.summaries.one,
      response: attempts.adminSchema,
      statements: 1,
      async handle({ params, locale }) {
        const attempt = await selectNamedAttempt<Row>(sql, attempts, params.id);
        if (!attempt) throw notFound();
        return adminView(attempt, { zone: settings.get(timeZone), locale });
      },
    }),
    defineRoute({
      ...one,
      path: `${path}/:id/${participants.path}`,
      summary: attempts.summaries.parts,
      response: list(participants.schema, participants.most),
      statements: 2,
      async handle({ params, locale }) {
        const [row, parts] = await Promise.all([
          selectAttempt<Row>(sql, attempts, params.id),
          participants.select(sql, params.id),
        ]);
        if (!row) throw notFound();
        const reader = { zone: settings.get(timeZone), locale };
        return parts.map((part) => participants.view(part, reader));
      },
    }),
  ];
}
