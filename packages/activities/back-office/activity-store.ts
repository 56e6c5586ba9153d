import type { Paging } from '@tradepost/core';
import type { Queryable, Transaction } from '@tradepost/postgres';
import type { Activity } from '../activity.ts';
import type { ActivityOptions, ActivityType } from '../activity-kinds.ts';

const columns = (sql: Queryable) => sql`
  a.id, a.type, a.name, a.start_at, a.end_at, a.status, a.options, a.created_at, a.updated_at`;

export type NewActivity = Pick<Activity, 'type' | 'name' | 'start_at' | 'end_at' | 'status' | 'options'>;
export type ActivityChange = {
  readonly name: string | null;
  readonly start_at: Date | null;
  readonly end_at: Date | null;
  readonly status: 0 | 1 | null;
  /** Fields that are not in it stay. */
  readonly options: ActivityOptions;
};

type Listed = { rows: Activity[]; total: number };
const listed = (rows: readonly (Activity & { total: number })[]): Listed => ({
  total: rows[0]?.total ?? 0,
  // A page without activities still has one row, which has the total.
  rows: rows.filter((row) => row.id !== null),
});

/** A page of the activities of a type, newest first, and their number. */
export async function selectActivities(sql: Queryable, type: ActivityType, paging: Paging): Promise<Listed> {
  return listed(
    await sql<(Activity & { total: number })[]>`
      with counted as (select count(*)::int as total from activities.activities where type = ${type} and deleted_at is null),
      page as (
        select id from activities.activities where type = ${type} and deleted_at is null
        order by id desc limit ${paging.size} offset ${paging.offset})
      select ${columns(sql)}, counted.total
      from counted left join (page join activities.activities a using (id)) on true order by a.id desc`,
  );
}

/** A page of the activities of a type that are switched on and have not ended, the first to start first. */
export async function selectOpenActivities(
  sql: Queryable,
  type: ActivityType,
  paging: Paging,
  now: Date,
): Promise<Listed> {
  const open = sql`
    from activities.activities where type = ${type} and deleted_at is null and status = 1 and end_at > ${now}`;
  return listed(
    await sql<(Activity & { total: number })[]>`
      with counted as (select count(*)::int as total ${open}),
      page as (select id ${open} order by start_at, id limit ${paging.size} offset ${paging.offset})
      select ${columns(sql)}, counted.total
      from counted left join (page join activities.activities a using (id)) on true order by a.start_at, a.id`,
  );
}

/**
 * Lets one writer of activities run at a time. Two overlapping writes would otherwise wait for each other in the exclusion
 * constraint. Readers and orders do not wait.
 */
export async function lockActivities(tx: Transaction): Promise<void> {
  await tx`lock table activities.activities in share row exclusive mode`;
}

/** Locks an activity of a type until the end of the transaction. */
export async function lockActivity(tx: Transaction, type: ActivityType, id: number): Promise<Activity | undefined> {
  const [row] = await tx<Activity[]>`
    select ${columns(tx)} from activities.activities a
    where a.id = ${id} and a.type = ${type} and a.deleted_at is null for no key update`;
  return row;
}

/** Fails with the constraint `activities_do_not_overlap` when the time is taken. */
export async function insertActivity(tx: Transaction, activity: NewActivity, now: Date): Promise<Activity> {
  const { type, name, start_at, end_at, status, options } = activity;
  const [row] = await tx<Activity[]>`
    insert into activities.activities as a (type, name, start_at, end_at, status, options, created_at, updated_at)
    values (${type}, ${name}, ${start_at}, ${end_at}, ${status}, ${tx.json(options)}, ${now}, ${now})
    returning ${columns(tx)}`;
  return row!;
}

/** Fails like `insertActivity`. Returns false when the activity does not exist. */
export async function updateActivity(
  tx: Transaction,
  of: { type: ActivityType; id: number },
  change: ActivityChange,
  now: Date,
): Promise<boolean> {
  const rows = await tx`
    update activities.activities
    set name = coalesce(${change.name}::text, name),
        start_at = coalesce(${change.start_at}::timestamptz, start_at),
        end_at = coalesce(${change.end_at}::timestamptz, end_at),
        status = coalesce(${change.status}::smallint, status),
        options = options || ${tx.json(change.options)}, updated_at = ${now}
    where id = ${of.id} and type = ${of.type} and deleted_at is null
    returning id`;
  return rows.length > 0;
}

/** Deletes an activity. Its rows stay, because orders name them. Returns false when it does not exist. */
export async function markActivityDeleted(
  tx: Transaction,
  of: { type: ActivityType; id: number },
  now: Date,
): Promise<boolean> {
  const rows = await tx`
    update activities.activities set deleted_at = ${now}, updated_at = ${now}
    where id = ${of.id} and type = ${of.type} and deleted_at is null returning id`;
  return rows.length > 0;
}
