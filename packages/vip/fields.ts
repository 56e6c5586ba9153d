import { isoInZone } from '@tradepost/core';
import { bit, requiredText } from '@tradepost/http';
import type { Queryable, Statement } from '@tradepost/postgres';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { z } from 'zod';
import { maxName } from './limits.ts';

/** 1/10,000 is the unit of rates inside; on the wire they are numbers from 0 to 1. */
const unit = 10_000;
export const rateIn = () =>
  z
    .number()
    .min(0)
    .max(1)
    .meta({ description: '0 to 1: 0.9 is 10 % off', examples: [0.9] });
export const rateOut = () => z.number().meta({ description: '0 to 1', examples: [0.9] });
export const toRate = (wire: number): number => Math.round(wire * unit);
export const rateToWire = (rate: number): number => rate / unit;
/** `price` times the rate, in minor units, rounded half up. */
export const atRate = (price: number, rate: number): number => Math.floor((price * rate + unit / 2) / unit);

export const name = (example: string) => requiredText(maxName).meta({ examples: [example] });
export const status = () => bit().meta({ description: '1 enabled, 0 disabled', examples: [1] });
/** The filter of a list: -1 is all. */
export const statusFilter = () =>
  z
    .int()
    .min(-1)
    .max(1)
    .optional()
    .meta({ description: '1 enabled, 0 disabled, -1 all', examples: [1] });
export const filterStatus = (value: number | undefined): number | null =>
  value === undefined || value < 0 ? null : value;

export const isoOf = ({ settings }: Pick<Runtime, 'settings'>) => {
  const zone = settings.get(timeZone);
  return (at: Date) => isoInZone(at, zone);
};

/** The first value that a client sent of two names of one field. */
export const either = <T>(first: T | undefined, second: T | undefined): T | undefined => first ?? second;

/** A page of rows with the number of all rows, in one statement. `from` has the table and the condition; `order` names columns. */
export async function selectPage<Row extends { id: number }>(
  sql: Queryable,
  { columns, from, order }: { columns: Statement; from: Statement; order: Statement },
  paging: { size: number; offset: number },
): Promise<{ rows: Row[]; total: number }> {
  const found = await sql<(Row & { total: number })[]>`
    with page as (select ${columns} ${from} order by ${order} limit ${paging.size} offset ${paging.offset}),
    counted as (select count(*)::int as total ${from})
    select page.*, counted.total from counted left join page on true order by ${order}`;
  const rows = found.flatMap(({ total: _total, ...row }) => (row.id === null ? [] : [row as unknown as Row]));
  return { rows, total: found[0]?.total ?? 0 };
}
