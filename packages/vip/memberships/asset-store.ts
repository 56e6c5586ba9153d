import type { Paging } from '@tradepost/core';
import type { Queryable, Sql, Statement, Transaction } from '@tradepost/postgres';
import { selectPage } from '../fields.ts';
import { levelOfAsset } from '../levels/level-store.ts';

/** The membership and the growth of a shopper. `status` 1 is an active membership: its end is in the future. */
export type Asset = {
  id: number;
  user_id: number;
  current_plan_id: number;
  /** The level of the growth; 0 and '' when no level fits. */
  level_id: number;
  level_name: string;
  vip_start_at: Date | null;
  vip_end_at: Date | null;
  growth_value: number;
  status: 0 | 1;
};

/** An ended membership reads as status 0, also before the job has stored it. */
export async function selectAsset(sql: Queryable, userId: number, now: Date): Promise<Asset | undefined> {
  const [row] = await sql<Asset[]>`
    select a.id, a.user_id, a.current_plan_id, coalesce(l.id, 0) as level_id, coalesce(l.name, '') as level_name, a.vip_start_at,
           a.vip_end_at, a.growth_value, case when a.vip_end_at > ${now} then a.status else 0 end as status
    from vip.assets a left join lateral ${levelOfAsset(sql)} as l on true
    where a.user_id = ${userId}`;
  return row;
}

/** The name of the level without any growth, such as that of a shopper who has not bought yet; '' when no level fits. */
export async function selectFirstLevel(sql: Queryable): Promise<string> {
  const [level] = await sql<{ name: string }[]>`
    select l.name from (select 0 as growth_value) as a, lateral ${levelOfAsset(sql)} as l`;
  return level?.name ?? '';
}

/** Creates the missing rows of these shoppers. */
export async function ensureAssets(tx: Transaction, userIds: readonly number[], now: Date): Promise<void> {
  await tx`
    insert into vip.assets (user_id, created_at, updated_at)
    select user_id, ${now}, ${now} from unnest(${[...userIds]}::bigint[]) as u (user_id) order by user_id
    on conflict (user_id) do nothing`;
}

export type LockedAsset = Pick<Asset, 'user_id' | 'vip_start_at' | 'vip_end_at' | 'growth_value' | 'status'>;

/**
 * Locks the rows of these shoppers in the order of the shoppers. All writes of this package lock them first, then purchases, then
 * payments. Shoppers without a row are left out.
 */
export async function lockAssets(tx: Transaction, userIds: readonly number[]): Promise<Map<number, LockedAsset>> {
  const rows = await tx<LockedAsset[]>`
    select user_id, vip_start_at, vip_end_at, growth_value, status from vip.assets
    where user_id = any(${[...userIds]}::bigint[]) order by user_id for no key update`;
  return new Map(rows.map((row) => [row.user_id, row]));
}

/** A membership that a purchase has begun or extended. `months` are those of the purchase. */
export type Opened = { user_id: number; plan_id: number; months: number; starts_at: Date; ends_at: Date };

/** Writes memberships of locked rows. A shopper occurs once. */
export const writeMemberships = (tx: Transaction, opened: readonly Opened[], now: Date): Statement => tx`
  update vip.assets a
  set current_plan_id = o.plan_id, vip_start_at = o.starts_at, vip_end_at = o.ends_at, months = a.months + o.months,
      status = 1, updated_at = ${now}
  from json_to_recordset(${JSON.stringify(opened)}::text::json)
    as o (user_id bigint, plan_id bigint, months int, starts_at timestamptz, ends_at timestamptz)
  where a.user_id = o.user_id`;

/** Stores the end of memberships that have ended. Returns the number of rows, at most `limit`. */
export async function endMemberships(sql: Sql, now: Date, limit: number): Promise<number> {
  const ended = await sql`
    update vip.assets set status = 0, updated_at = ${now}
    where status = 1 and user_id in (
      select user_id from vip.assets where status = 1 and vip_end_at <= ${now} order by user_id limit ${limit}
      -- skip locked: a payment extends it at this moment
      for no key update skip locked)`;
  return ended.count;
}

/** Deletes what this package knows about shoppers, except their purchases. */
export async function deleteAssets(tx: Transaction, userIds: readonly number[]): Promise<void> {
  await tx`
    with locked as materialized (
      select user_id from vip.assets where user_id = any(${[...userIds]}::bigint[]) order by user_id for update
    ), assets as (delete from vip.assets a using locked where a.user_id = locked.user_id),
    logs as (delete from vip.growth_logs where user_id = any(${[...userIds]}::bigint[]))
    delete from vip.monthly_claims where user_id = any(${[...userIds]}::bigint[])`;
}

/** A row of the growth log. */
export type GrowthLog = {
  id: number;
  user_id: number;
  order_id: number;
  event_type: 'order_paid' | 'order_refund' | 'admin_adjust';
  growth_delta: number;
  balance_after: number;
  remark: string;
  created_at: Date;
};

/** The growth log of a shopper, newest first. */
export const selectGrowthLogs = (sql: Queryable, userId: number, paging: Paging) =>
  selectPage<GrowthLog>(
    sql,
    {
      columns: sql`id, user_id, order_id, event_type, growth_delta, balance_after, remark, created_at`,
      from: sql`from vip.growth_logs where user_id = ${userId}`,
      order: sql`id desc`,
    },
    paging,
  );

/** The level of each of these shoppers whose membership is active. */
export async function selectActiveLevels(
  sql: Queryable,
  userIds: readonly number[],
  now: Date,
): Promise<Map<number, number>> {
  if (userIds.length === 0) return new Map();
  const rows = await sql<{ user_id: number; level_id: number }[]>`
    select a.user_id, l.id as level_id from vip.assets a cross join lateral ${levelOfAsset(sql)} as l
    where a.user_id = any(${[...userIds]}::bigint[]) and a.status = 1 and a.vip_end_at > ${now}`;
  return new Map(rows.map((row) => [row.user_id, row.level_id]));
}

/** Active members of a level with ids above `after`, by id. */
export async function selectMembersWith(
  sql: Queryable,
  { levelId, after, limit, now }: { levelId: number; after: number; limit: number; now: Date },
): Promise<number[]> {
  const rows = await sql<{ user_id: number }[]>`
    select a.user_id from vip.assets a cross join lateral ${levelOfAsset(sql)} as l
    where a.status = 1 and a.vip_end_at > ${now} and a.user_id > ${after} and l.id = ${levelId}
    order by a.user_id limit ${limit}`;
  return rows.map((row) => row.user_id);
}
