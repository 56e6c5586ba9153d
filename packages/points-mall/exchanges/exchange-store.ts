import type { Paging } from '@tradepost/core';
import { plannedByValue, type Queryable, type Transaction } from '@tradepost/postgres';
import { maxListed } from '../limits.ts';
import { type Exchange, type ExchangeMove, type ExchangeStatus, exchangeMoves } from './exchange.ts';

const columns = (sql: Queryable) => sql`
  e.id, e.exchange_no, e.user_id, e.product_id, e.product_title, e.product_type, e.product_cover, e.qty, e.points_cost, e.status,
  e.address_snapshot, e.tracking_no, e.coupon_user_ids, e.virtual_content, e.remark, e.created_at, e.shipped_at, e.completed_at,
  e.canceled_at`;

/** The numbers of these exchanges, by id. */
export async function selectExchangeNumbers(sql: Queryable, ids: readonly number[]): Promise<Map<number, string>> {
  const rows = await sql<{ id: number; exchange_no: string }[]>`
    select id, exchange_no from points_mall.exchanges where id = any(${[...ids]}::bigint[])`;
  return new Map(rows.map(({ id, exchange_no }) => [id, exchange_no]));
}

export type ExchangeFilter = { readonly user_id: number | null; readonly status: ExchangeStatus | null };
export type ListedExchange = Exchange & { user_nickname: string };

/** A page of exchanges, newest first. The newest `maxListed` are counted. */
export async function selectExchanges(
  sql: Queryable,
  { user_id, status }: ExchangeFilter,
  paging: Paging,
): Promise<{ rows: ListedExchange[]; total: number }> {
  const matching = sql`
    from points_mall.exchanges e where true ${user_id === null ? sql`` : sql`and e.user_id = ${user_id}`}
      ${status === null ? sql`` : sql`and e.status = ${status}`}`;
  const size = Math.max(0, Math.min(paging.size, maxListed - paging.offset));
  const rows = await plannedByValue(sql<(ListedExchange & { total: number })[]>`
    with counted as (select count(*)::int as total from (select ${matching} limit ${maxListed}) as listed),
    page as (select e.id ${matching} order by e.id desc limit ${size} offset ${Math.min(paging.offset, maxListed)})
    select counted.total, ${columns(sql)}, coalesce(u.nickname, '') as user_nickname
    from counted left join (page join points_mall.exchanges e using (id)) on true
    left join identity.shopper_names u on u.id = e.user_id
    order by e.id desc`);
  return {
    rows: rows.filter(({ id }) => id !== null).map(({ total: _total, ...row }) => row),
    total: rows[0]?.total ?? 0,
  };
}

/** An exchange; of this shopper only, with `userId`. */
export async function selectExchange(
  sql: Queryable,
  id: number,
  userId: number | null = null,
): Promise<ListedExchange | undefined> {
  const [row] = await sql<ListedExchange[]>`
    select ${columns(sql)}, coalesce(u.nickname, '') as user_nickname
    from points_mall.exchanges e left join identity.shopper_names u on u.id = e.user_id
    where e.id = ${id} ${userId === null ? sql`` : sql`and e.user_id = ${userId}`}`;
  return row;
}

export type Taken = { user_id: number; product_id: number; in_all: number; today: number };

/** What these pairs of shopper and product have exchanged, without cancelled exchanges: in all and on this day. */
export const selectTaken = (
  tx: Transaction,
  pairs: readonly { user_id: number; product_id: number }[],
  day: string,
) => tx<Taken[]>`
  select e.user_id, e.product_id, sum(e.qty)::bigint as in_all,
         coalesce(sum(e.qty) filter (where e.day = ${day}::date), 0)::bigint as today
  from (select distinct user_id, product_id
        from json_to_recordset(${JSON.stringify(pairs)}::text::json) as p (user_id bigint, product_id bigint)) as p
  join points_mall.exchanges e on e.product_id = p.product_id and e.user_id = p.user_id and e.status <> 'canceled'
  group by e.user_id, e.product_id`;

/** An exchange to write, with the limits of its product. */
export type NewExchange = Omit<
  Exchange,
  'id' | 'exchange_no' | 'tracking_no' | 'remark' | 'created_at' | 'shipped_at' | 'completed_at' | 'canceled_at'
> & { limit_per_user: number; limit_per_day: number };

/** Inserts exchanges in this order and returns them. `day` and `stamp` are the time in the zone of the shop. */
export const insertExchanges = (
  tx: Transaction,
  exchanges: readonly NewExchange[],
  { now, day, stamp }: { readonly now: Date; readonly day: string; readonly stamp: string },
) => tx<Exchange[]>`
  with given as materialized (
    select nextval('points_mall.exchanges_id_seq') as id,
           'EX' || ${stamp} || lpad((nextval('points_mall.exchange_numbers') % 1000000)::text, 6, '0') as exchange_no, x.*
    from json_to_recordset(${JSON.stringify(exchanges)}::text::json) as x (user_id bigint, product_id bigint, product_title text,
      product_type text, product_cover text, qty integer, points_cost bigint, status text, address_snapshot jsonb,
      coupon_user_ids bigint[], virtual_content text, limit_per_user integer, limit_per_day integer)
  ),
  e as (
    insert into points_mall.exchanges (id, exchange_no, user_id, product_id, product_title, product_type, product_cover, qty,
      points_cost, status, address_snapshot, coupon_user_ids, virtual_content, limit_per_user, limit_per_day, day, created_at,
      completed_at)
    overriding system value
    select id, exchange_no, user_id, product_id, product_title, product_type, product_cover, qty, points_cost, status,
      address_snapshot, coupon_user_ids, virtual_content, limit_per_user, limit_per_day, ${day}::date, ${now},
      case when status = 'completed' then ${now}::timestamptz end
    from given
    returning *
  )
  select ${columns(tx)} from e order by e.id`;

export type MoveOptions = {
  readonly now: Date;
  /** Only exchanges of this shopper. */
  readonly userId?: number;
  readonly tracking_no?: string;
  readonly remark?: string;
};

/** Moves exchanges whose status allows it, and returns them after the move. */
export const updateExchanges = (
  tx: Transaction,
  ids: readonly number[],
  move: ExchangeMove,
  { now, userId, tracking_no, remark }: MoveOptions,
) => {
  const { from, to, at } = exchangeMoves[move];
  return tx<Exchange[]>`
    with locked as (
      select id from points_mall.exchanges
      where id = any(${[...ids]}::bigint[]) and status = any(${[...from]}::text[])
        ${userId === undefined ? tx`` : tx`and user_id = ${userId}`}
      order by id for no key update
    )
    update points_mall.exchanges e
    set status = ${to}, ${tx(at)} = ${now}
      ${tracking_no === undefined ? tx`` : tx`, tracking_no = ${tracking_no}`}
      ${remark === undefined ? tx`` : tx`, remark = ${remark}`}
    from locked where e.id = locked.id
    returning ${columns(tx)}`;
};

/** The exchanges that wait for their shipment. */
export async function countToShip(sql: Queryable): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from points_mall.exchanges where status = 'pending_ship'`;
  return row!.count;
}

/** About the number of exchanges: exact while there are few. */
export async function countExchanges(sql: Queryable): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (select from points_mall.exchanges limit ${maxListed}) as counted`;
  return row!.count;
}
