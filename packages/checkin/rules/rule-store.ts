import type { Queryable, Transaction } from '@tradepost/postgres';
import { maxRules } from '../limits.ts';

/** The points of a check-in from this day of a streak on. Day 0 is the default. */
export type Rule = { day: number; points: number };

/** All rules, by day. */
export const selectRules = (sql: Queryable): Promise<(Rule & { id: number })[]> =>
  sql<(Rule & { id: number })[]>`select id, day, points from checkin.rules order by day limit ${maxRules}`;

/** Makes these the rules of the shop. A rule whose day stays keeps its id. Two statements. */
export async function replaceRules(tx: Transaction, rules: readonly Rule[]): Promise<void> {
  // Two changes at once would mix their rules.
  await tx`lock table checkin.rules in share row exclusive mode`;
  await tx`
    with given as (select day, points from json_to_recordset(${JSON.stringify(rules)}::text::json) as r (day integer, points integer)),
    removed as (delete from checkin.rules where day not in (select day from given))
    insert into checkin.rules as r (day, points) select day, points from given order by day
    on conflict (day) do update set points = excluded.points where r.points <> excluded.points`;
}
