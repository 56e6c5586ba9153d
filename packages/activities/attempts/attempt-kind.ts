import type { RefusalFactory } from '@tradepost/core';
import type { Queryable, Statement } from '@tradepost/postgres';
import type { z } from 'zod';
import type { ActivityKind } from '../activity-kinds.ts';
import type { Attempt, AttemptReader } from './attempt.ts';

/** A shopper who takes part in an attempt: a member of a group, a helper of a bargain. */
export type Participant = { user_id: number };

/** What only the back office shows of an attempt. */
type AttemptNames = { readonly nickname: string; readonly product_title: string };

/** What a package declares about the attempts of its kind. Texts are those of the API reference. */
export type AttemptKind<
  Row extends Attempt,
  View,
  AdminView,
  Part extends Participant,
  PartView extends { user_nickname: string },
> = {
  readonly kind: Pick<ActivityKind, 'path' | 'tag' | 'permissions'>;
  readonly adminTag: string;
  readonly summaries: { readonly list: string; readonly one: string; readonly shared: string; readonly parts: string };
  readonly notFound: RefusalFactory;
  /** The relation of its rows, `(select ... from group_buy.groups g)`. */
  readonly rows: (sql: Queryable) => Statement;
  /** The column of `rows` with the shopper who opened the attempt. */
  readonly openedBy: string & keyof Row;
  readonly schema: z.ZodType<View>;
  readonly adminSchema: z.ZodType<AdminView>;
  readonly view: (row: Row, reader: AttemptReader) => View;
  readonly adminView: (view: View, names: AttemptNames) => AdminView;
  /** What this shopper reads of a row. Absent: all of it. */
  readonly shownTo?: (row: Row, userId: number) => Row;
  readonly participants: {
    /** The last segment of the path of their list. */
    readonly path: 'members' | 'helpers';
    readonly most: number;
    readonly select: (sql: Queryable, attemptId: number) => Promise<Part[]>;
    readonly schema: z.ZodType<PartView>;
    readonly view: (part: Part, reader: AttemptReader) => PartView;
  };
};
