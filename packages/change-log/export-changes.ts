import { isoInZone } from '@tradepost/core';
import type { Sql } from '@tradepost/postgres';
import { stringify } from 'csv-stringify/sync';
import type { Change } from './change.ts';
import { type ChangeFilter, selectOlderChanges } from './change-store.ts';
import { exportPage } from './limits.ts';

export const formats = ['csv', 'ndjson'] as const;
export type ExportFormat = (typeof formats)[number];

const columns = [
  ...['id', 'created_at', 'source', 'staff_id', 'name', 'ip', 'request_id', 'action', 'table', 'row_id', 'operation'],
  ...['before', 'after'],
] as const;

function valuesOf(change: Change, zone: string): Record<(typeof columns)[number], unknown> {
  const { id, source, staff_id, request_id, action, row_id, operation, before, after } = change;
  const created_at = isoInZone(change.at, zone);
  return {
    ...{ id, created_at, source, staff_id, name: change.actor_name, ip: change.address, request_id, action },
    ...{ table: change.table_name, row_id, operation, before, after },
  };
}

const cell = (value: unknown): unknown => (value instanceof Object ? JSON.stringify(value) : value);

/** A spreadsheet program runs a cell that begins like a formula, so such a cell gets an apostrophe. */
const toCsv = (rows: unknown[][]) => stringify(rows, { record_delimiter: '\r\n', escape_formulas: true });

function textOf(changes: readonly Change[], format: ExportFormat, zone: string): string {
  const rows = changes.map((change) => valuesOf(change, zone));
  if (format === 'ndjson') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return toCsv(rows.map((row) => columns.map((column) => cell(row[column]))));
}

/**
 * The changes that match, the newest first, as text in pieces. Each piece is read by a statement of its own, so a slow
 * reader holds no connection and no snapshot. Changes that are made meanwhile are not in it.
 */
export async function* exportChanges(
  sql: Sql,
  filter: ChangeFilter,
  { format, zone }: { format: ExportFormat; zone: string },
): AsyncGenerator<string> {
  // Without the byte order mark, spreadsheet programs use the regional encoding.
  let head = format === 'csv' ? `\ufeff${toCsv([[...columns]])}` : '';
  let after: { at_text: string; id: number } | null = null;
  for (;;) {
    const page: Awaited<ReturnType<typeof selectOlderChanges>> = await selectOlderChanges(
      sql,
      filter,
      after,
      exportPage,
    );
    const text = head + textOf(page, format, zone);
    if (text !== '') yield text;
    head = '';
    if (page.length < exportPage) return;
    after = page.at(-1)!;
  }
}
