import { defineRoute, idParams, list, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { type Attempt, maskedNickname } from './attempt.ts';
import type { AttemptKind, Participant } from './attempt-kind.ts';
import { selectAttempt } from './attempt-store.ts';

/** The routes with which every shopper reads an attempt and its participants. */
export function attemptRoutes<
  Row extends Attempt,
  View,
  Part extends Participant,
  PartView extends { user_nickname: string },
>({ sql, settings }: Runtime, attempts: AttemptKind<Row, View, unknown, Part, PartView>): Route[] {
  const { kind, notFound, participants } = attempts;
  const shopper = { auth: 'shopper', tag: kind.tag, method: 'GET', params: idParams, refuses: [notFound] } as const;
  const path = `/api/v1/${kind.path}/orders/:id`;
  return [
    defineRoute({
      ...shopper,
      path,
      summary: attempts.summaries.shared,
      response: attempts.schema,
      statements: 1,
      async handle({ caller, params, locale }) {
        const row = await selectAttempt<Row>(sql, attempts, params.id);
        if (!row) throw notFound();
        return attempts.view(attempts.shownTo?.(row, caller.id) ?? row, { zone: settings.get(timeZone), locale });
      },
    }),
    defineRoute({
      ...shopper,
      path: `${path}/${participants.path}`,
      summary: attempts.summaries.parts,
      response: list(participants.schema, participants.most),
      statements: 2,
      async handle({ caller, params, locale }) {
        const [row, parts] = await Promise.all([
          selectAttempt<Row>(sql, attempts, params.id),
          participants.select(sql, params.id),
        ]);
        if (!row) throw notFound();
        const reader = { zone: settings.get(timeZone), locale };
        return parts.map((part) => {
          const view = participants.view(part, reader);
          return part.user_id === caller.id ? view : { ...view, user_nickname: maskedNickname(view.user_nickname) };
        });
      },
    }),
  ];
}
