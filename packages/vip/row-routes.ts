import { type Paging, paged, pagingOf } from '@tradepost/core';
import { defineRoute, pagedOf, pageQueryWith, type Route } from '@tradepost/http';
import type { Queryable } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import type { z } from 'zod';
import { filterStatus, isoOf, statusFilter } from './fields.ts';
import { maxAdminPage } from './limits.ts';

const tag = 'Memberships (admin)';
export const view = { auth: 'staff', permission: 'vip:view', tag } as const;
export const edit = { auth: 'staff', permission: 'vip:edit', tag, repeat: 'recorded' } as const;

type RowList<Row, View> = {
  readonly path: string;
  readonly summary: string;
  readonly response: z.ZodType<View>;
  readonly statements: number;
  readonly rows: {
    selectPage(sql: Queryable, status: number | null, paging: Paging): Promise<{ rows: Row[]; total: number }>;
  };
  readonly views: (rows: readonly Row[], iso: (at: Date) => string) => View[] | Promise<View[]>;
};

/** The list of plans, levels or rules of coupons, by status. */
export const listRoute = <Row, View>(
  runtime: Runtime,
  { rows, views, response, ...texts }: RowList<Row, View>,
): Route =>
  defineRoute({
    ...view,
    ...texts,
    method: 'GET',
    query: pageQueryWith({ status: statusFilter() }),
    response: pagedOf(response, maxAdminPage),
    async handle({ query }) {
      const paging = pagingOf(query, { cap: maxAdminPage });
      const found = await rows.selectPage(runtime.sql, filterStatus(query.status), paging);
      return paged(await views(found.rows, isoOf(runtime)), found.total, paging);
    },
  });
