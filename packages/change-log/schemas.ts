import { instantInZone, type Locale } from '@tradepost/core';
import { id, pagedOf, pageQueryWith, text, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { type Change, operations, sources } from './change.ts';
import type { ChangeFilter } from './change-store.ts';
import { changeLogErrors } from './errors.ts';
import { mostCounted, mostSearched } from './limits.ts';

const filter = (max: number, description: string, example: string) =>
  text(max)
    .trim()
    .optional()
    .meta({ description, examples: [example] });

const filters = {
  staff_id: z
    .int()
    .min(1)
    .optional()
    .meta({ description: 'an administrator', examples: [1] }),
  source: z.enum(sources).optional().meta({ description: 'api: the back office; cli: a command' }),
  table: filter(128, 'a table, with or without its schema', 'products'),
  row_id: filter(256, 'a row of the table', '1'),
  action: filter(200, 'a route or a command', 'PUT /admin/api/products/:id'),
  operation: z.enum(operations).optional().meta({ description: 'what happened to the row' }),
  request_id: filter(64, '`X-Request-Id` of the answer', '5f0c2a9e71-1a'),
  from: filter(64, 'at or after this time', '2026-03-01'),
  to: filter(64, 'at or before this time; a date includes the whole day', '2099-03-01'),
  keyword: filter(
    100,
    `a part of the name, the action or the values, or an id; searched in the newest ${mostSearched} changes of the other filters`,
    'mug',
  ),
};
export const changeQuery = pageQueryWith(filters);
export const exportQuery = z.object(filters);
export type FilterQuery = z.output<typeof exportQuery>;

/** The filter of a query. An empty text is no filter. Refuses a `from` or `to` that is no time. */
export function filterOf(query: FilterQuery, zone: string): ChangeFilter {
  const at = (field: 'from' | 'to', edge: 'start' | 'end'): Date | undefined => {
    const given = query[field];
    if (!given) return undefined;
    const instant = instantInZone(given, zone, edge);
    if (!instant) throw changeLogErrors.invalid_moment({ field });
    return instant;
  };
  const { staff_id, source, operation } = query;
  const to = at('to', 'end');
  return {
    ...{ staff_id, source, operation },
    table: query.table || undefined,
    row_id: query.row_id || undefined,
    action: query.action || undefined,
    request_id: query.request_id || undefined,
    keyword: query.keyword || undefined,
    from: at('from', 'start'),
    // A time without a fraction means the whole second.
    before: to && new Date((Math.floor(to.getTime() / 1_000) + 1) * 1_000),
  };
}

const values = z.record(z.string(), z.unknown()).nullable();

export const changeView = z.object({
  id: id(),
  created_at: timestamp(),
  source: z.enum(sources),
  staff_id: id().nullable().meta({ description: 'null for a command' }),
  name: z
    .string()
    .meta({ description: 'username at that time; of a command the user of the operating system', examples: ['admin'] }),
  ip: z.string().meta({ description: 'address of the client; empty for a command', examples: ['203.0.113.7'] }),
  request_id: z.string().meta({ examples: ['5f0c2a9e71-1a'] }),
  action: z.string().meta({ examples: ['PUT /admin/api/products/:id'] }),
  table: z.string().meta({ description: 'schema and name of the table' }),
  row_id: z.string().meta({ examples: ['1'] }),
  operation: z.enum(operations),
  summary: z.string().meta({ examples: ['Changed product 1'] }),
  before: values.meta({ description: 'the changed columns, or all columns of a deleted row; amounts in cents' }),
  after: values.meta({ description: 'the changed columns, or all columns of a new row' }),
});
export const changesFile = z.string().meta({
  description: 'UTF-8 with a byte order mark, lines end with CRLF; cells that begin like a formula get an apostrophe',
  examples: ['id,created_at,source,staff_id,name,ip,request_id,action,table,row_id,operation,before,after\r\n'],
});
export const changesView = pagedOf(changeView).meta({ description: `\`total\` is at most ${mostCounted}` });

export function viewOf(
  change: Change,
  {
    iso,
    summary,
    locale,
  }: { iso: (at: Date) => string; summary: (of: Change, locale: Locale) => string; locale: Locale },
): z.input<typeof changeView> {
  const { id: changeId, source, staff_id, request_id, action, row_id, operation, before, after } = change;
  return {
    ...{ id: changeId, created_at: iso(change.at), source, staff_id, name: change.actor_name, ip: change.address },
    ...{
      request_id,
      action,
      table: change.table_name,
      row_id,
      operation,
      summary: summary(change, locale),
      before,
      after,
    },
  };
}
