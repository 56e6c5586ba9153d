import type { Locale } from '@tradepost/core';
import { defineRegistry } from '@tradepost/module';
import type { Queryable } from '@tradepost/postgres';
import { type LogContext, logView } from './log-views.ts';
import type { PointsLog, PointsType } from './points-log.ts';

/** The remarks of the rows of one type, made by the package that writes them. */
export type LogRemarks = {
  readonly type: PointsType;
  /** By the id of the row. A row without one gets the label of its type. One statement. */
  remarksOf(sql: Queryable, logs: readonly PointsLog[], locale: Locale): Promise<ReadonlyMap<number, string>>;
};

/** Remarks are made when rows are read, in the language of the reader. A remark that is stored in a row is shown as it is. */
export const logRemarks = defineRegistry<LogRemarks>('points.log_remarks');

/** Rows of the ledger for a reader. At most one statement for each entry. */
export async function logViews(
  sql: Queryable,
  logs: readonly PointsLog[],
  entries: readonly LogRemarks[],
  context: LogContext,
) {
  const found = await Promise.all(
    entries.map(async ({ type, remarksOf }) => {
      const rows = logs.filter((log) => log.type === type && log.remark === '');
      return rows.length > 0 ? [...(await remarksOf(sql, rows, context.locale))] : [];
    }),
  );
  const remarks = new Map(found.flat());
  return logs.map((log) => logView({ ...log, remark: remarks.get(log.id) ?? log.remark }, context));
}
