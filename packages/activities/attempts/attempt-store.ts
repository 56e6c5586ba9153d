import type { Paging } from '@tradepost/core';
import { countedPage, plannedByValue, type Queryable, type Statement } from '@tradepost/postgres';
import type { Attempt, AttemptStatus } from './attempt.ts';

type Source = { readonly rows: (sql: Queryable) => Statement };
type NamedSource<Row> = Source & { readonly openedBy: string & keyof Row };

/** With the nickname of its shopper and the product. `translations` has the texts of the product in other languages. */
export type NamedAttempt<Row extends Attempt> = {
  row: Row;
  nickname: string;
  title: string;
  translations: Record<string, { title?: string }>;
};
export type AttemptFilter = { readonly activity_id: number | null; readonly status: AttemptStatus | null };

type NameColumns = Omit<NamedAttempt<Attempt>, 'row'>;

const split = <Row extends Attempt>({
  nickname,
  title,
  translations,
  ...row
}: Row & NameColumns): NamedAttempt<Row> => ({
  row: row as unknown as Row,
  ...{ nickname, title, translations },
});

const names = (sql: Queryable): Statement => sql`
  coalesce(u.nickname, '') as nickname, coalesce(p.title, '') as title, coalesce(p.translations, '{}') as translations`;
const namedBy = (sql: Queryable, openedBy: string): Statement => sql`
  left join identity.shopper_names u on u.id = a.${sql(openedBy)} left join catalog.product_facts p on p.id = a.product_id`;

/** A page of attempts, newest first. */
export async function selectAttempts<Row extends Attempt>(
  sql: Queryable,
  { rows, openedBy }: NamedSource<Row>,
  { activity_id, status }: AttemptFilter,
  paging: Paging,
): Promise<{ attempts: NamedAttempt<Row>[]; total: number }> {
  const found = sql`
    from ${rows(sql)} as t where true ${activity_id === null ? sql`` : sql`and activity_id = ${activity_id}`}
      ${status === null ? sql`` : sql`and status = ${status}`}`;
  const selected = await plannedByValue(sql<(Row & NameColumns & { total_found: number })[]>`
    with counted as (select count(*)::int as total_found ${found}),
    a as (select t.* ${found} order by id desc limit ${paging.size} offset ${paging.offset})
    select counted.total_found, a.*, ${names(sql)} from counted left join a on true ${namedBy(sql, openedBy)}
    order by a.id desc`);
  const { rows: page, total } = countedPage<Row & NameColumns>(selected);
  return { attempts: page.map((row) => split<Row>(row)), total };
}

export async function selectNamedAttempt<Row extends Attempt>(
  sql: Queryable,
  { rows, openedBy }: NamedSource<Row>,
  id: number,
): Promise<NamedAttempt<Row> | undefined> {
  const [row] = await sql<(Row & NameColumns)[]>`
    select a.*, ${names(sql)} from ${rows(sql)} as a ${namedBy(sql, openedBy)} where a.id = ${id}`;
  return row && split<Row>(row);
}

export async function selectAttempt<Row extends Attempt>(
  sql: Queryable,
  { rows }: Source,
  id: number,
): Promise<Row | undefined> {
  const [row] = await sql<Row[]>`select a.* from ${rows(sql)} as a where a.id = ${id}`;
  return row;
}
