import type { Paging } from '@tradepost/core';
import type { Queryable, Sql, Transaction } from '@tradepost/postgres';
import { type ApiToken, digestOf, isSecret, mark, type TokenStatus } from './api-token.ts';

export type TokenRow = {
  id: number;
  user_id: number;
  name: string;
  prefix: string;
  rpm_limit: number | null;
  tpm_limit: number | null;
  /** Limits of the user; null inherits. */
  user_rpm_limit: number | null;
  user_tpm_limit: number | null;
  /** Until then the secret before the last rotation is valid. */
  previous_until: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
  updated_at: Date;
};
/** A token with the digest that it was found by, of its current or its previous secret. */
export type FoundToken = TokenRow & { digest: string; is_previous: boolean };

/** The part of a token that the limiter needs. */
export const apiTokenOf = (row: TokenRow): ApiToken =>
  Object.freeze({
    id: row.id,
    userId: row.user_id,
    rpmLimit: row.rpm_limit,
    tpmLimit: row.tpm_limit,
    userRpmLimit: row.user_rpm_limit,
    userTpmLimit: row.user_tpm_limit,
    expiresAt: row.expires_at?.getTime() ?? null,
  });

export type TokenFields = Pick<TokenRow, 'name' | 'rpm_limit' | 'tpm_limit' | 'expires_at'>;

const columns = (sql: Queryable) => sql`
  t.id, t.user_id, t.name, t.prefix, t.rpm_limit, t.tpm_limit, u.rpm_limit as user_rpm_limit, u.tpm_limit as user_tpm_limit,
  t.previous_until, t.expires_at, t.revoked_at, t.last_used_at, t.created_at, t.updated_at`;
const withLimits = (sql: Queryable) => sql`left join gateway.user_limits u on u.user_id = t.user_id`;

/** Finds tokens in any state. Digests are base64, in the argument and in the result. */
export async function selectTokensByDigest(sql: Queryable, digests: readonly string[]): Promise<FoundToken[]> {
  return sql<FoundToken[]>`
    with given as (select digest, decode(digest, 'base64') as hash from unnest(${[...digests]}::text[]) as d (digest))
    select g.digest, false as is_previous, ${columns(sql)}
    from given g join gateway.api_tokens t on t.token_hash = g.hash ${withLimits(sql)}
    union all
    select g.digest, true, ${columns(sql)}
    from given g join gateway.api_tokens t on t.previous_hash = g.hash ${withLimits(sql)}`;
}

export async function selectToken(sql: Queryable, id: number): Promise<TokenRow | undefined> {
  const [row] = await sql<TokenRow[]>`
    select ${columns(sql)} from gateway.api_tokens t ${withLimits(sql)} where t.id = ${id}`;
  return row;
}

/** Finds tokens by the beginning of their secret. Several tokens can have the same one. */
async function selectTokensByPrefix(sql: Queryable, prefix: string): Promise<TokenRow[]> {
  return sql<TokenRow[]>`
    select ${columns(sql)} from gateway.api_tokens t ${withLimits(sql)}
    where starts_with(t.prefix, ${prefix}) order by t.id limit 10`;
}

export type TokenFilter = {
  user_id?: number | undefined;
  status?: TokenStatus | undefined;
  /** Part of the name or of the prefix. */
  keyword?: string | undefined;
};

const contains = (keyword: string) => `%${keyword.replace(/[\\%_]/g, '\\$&')}%`;

/** A page of tokens, the newest first. */
export async function selectTokens(
  sql: Sql,
  { user_id, status, keyword }: TokenFilter,
  now: Date,
  paging: Paging,
): Promise<{ rows: TokenRow[]; total: number }> {
  const states = {
    active: sql`and t.revoked_at is null and (t.expires_at is null or t.expires_at > ${now})`,
    revoked: sql`and t.revoked_at is not null`,
    expired: sql`and t.revoked_at is null and t.expires_at <= ${now}`,
  };
  const where = sql`true
    ${user_id === undefined ? sql`` : sql`and t.user_id = ${user_id}`}
    ${status === undefined ? sql`` : states[status]}
    ${keyword ? sql`and concat_ws(E'\n', t.name, t.prefix) ilike ${contains(keyword)}` : sql``}`;
  const rows = await sql<(TokenRow & { total: number })[]>`
    with page as (
      select ${columns(sql)} from gateway.api_tokens t ${withLimits(sql)} where ${where}
      order by t.id desc limit ${paging.size} offset ${paging.offset}
    ), counted as (select count(*)::int as total from gateway.api_tokens t where ${where})
    select page.*, counted.total from counted left join page on true order by page.id desc`;
  return { rows: rows.filter((row) => row.id !== null), total: rows[0]?.total ?? 0 };
}

/** Serializes the creation of tokens for one shopper. Returns the number of tokens that are not revoked. */
export async function lockAndCountTokens(tx: Transaction, userId: number): Promise<number> {
  await tx`select pg_advisory_xact_lock(hashtext('gateway.api_tokens'), hashint8(${userId}))`;
  const [row] = await tx<{ n: number }[]>`
    select count(*)::int as n from gateway.api_tokens where user_id = ${userId} and revoked_at is null`;
  return row!.n;
}

/** Returns the id of the new token. */
export async function insertToken(
  sql: Queryable,
  { user_id, name, rpm_limit, tpm_limit, expires_at }: TokenFields & { user_id: number },
  { prefix, hash }: { prefix: string; hash: Buffer },
  by: string,
): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    with created as (
      insert into gateway.api_tokens (user_id, name, prefix, token_hash, rpm_limit, tpm_limit, expires_at)
      values (${user_id}, ${name}, ${prefix}, ${hash}, ${rpm_limit}, ${tpm_limit}, ${expires_at})
      returning *
    ), trail as (
      insert into gateway.token_changes (token_id, user_id, action, details, changed_by)
      select id, user_id, 'create', jsonb_build_object('name', name, 'prefix', prefix, 'rpm_limit', rpm_limit,
             'tpm_limit', tpm_limit, 'expires_at', expires_at), ${by}
      from created
    )
    select id from created`;
  return row!.id;
}

/** Locks a token against concurrent changes. */
export async function lockToken(
  tx: Transaction,
  id: number,
): Promise<(TokenFields & Pick<TokenRow, 'user_id' | 'prefix' | 'revoked_at'>) | undefined> {
  const [row] = await tx<(TokenFields & Pick<TokenRow, 'user_id' | 'prefix' | 'revoked_at'>)[]>`
    select user_id, name, prefix, rpm_limit, tpm_limit, expires_at, revoked_at
    from gateway.api_tokens where id = ${id} for update`;
  return row;
}

/** `details`: the entry of the trail, `{ before, after }` of the fields that differ. */
export async function updateToken(
  tx: Transaction,
  id: number,
  { name, rpm_limit, tpm_limit, expires_at }: TokenFields,
  details: object,
  by: string,
): Promise<void> {
  await tx`
    with changed as (
      update gateway.api_tokens
      set name = ${name}, rpm_limit = ${rpm_limit}, tpm_limit = ${tpm_limit}, expires_at = ${expires_at},
          updated_at = clock_timestamp()
      where id = ${id} returning id, user_id
    )
    insert into gateway.token_changes (token_id, user_id, action, details, changed_by)
    select id, user_id, 'update', ${tx.json(details as never)}, ${by} from changed`;
}

/** Revokes tokens. Returns the ids that were not revoked before. */
export async function revokeTokens(sql: Queryable, ids: readonly number[], by: string): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    with locked as (
      select id from gateway.api_tokens where id = any(${[...ids]}::bigint[]) and revoked_at is null
      order by id for update
    ), revoked as (
      update gateway.api_tokens t
      set revoked_at = clock_timestamp(), updated_at = clock_timestamp()
      from locked where t.id = locked.id and t.revoked_at is null
      returning t.id, t.user_id
    ), trail as (
      insert into gateway.token_changes (token_id, user_id, action, changed_by)
      select id, user_id, 'revoke', ${by} from revoked
    )
    select id from revoked order by id`;
  return rows.map((row) => row.id);
}

/** Replaces the secret. The previous secret stays valid for `graceSeconds`; an older one ends. */
export async function replaceSecret(
  tx: Transaction,
  id: number,
  { prefix, hash }: { prefix: string; hash: Buffer },
  graceSeconds: number,
  by: string,
): Promise<void> {
  await tx`
    with old as (select id, prefix from gateway.api_tokens where id = ${id}),
    rotated as (
      update gateway.api_tokens
      set previous_hash = case when ${graceSeconds} > 0 then token_hash end,
          previous_until = case when ${graceSeconds} > 0 then clock_timestamp() + make_interval(secs => ${graceSeconds}) end,
          token_hash = ${hash}, prefix = ${prefix}, updated_at = clock_timestamp()
      where id = ${id} returning id, user_id, prefix, previous_until
    )
    insert into gateway.token_changes (token_id, user_id, action, details, changed_by)
    select rotated.id, user_id, 'rotate', jsonb_build_object('before', jsonb_build_object('prefix', old.prefix),
           'after', jsonb_build_object('prefix', rotated.prefix), 'previous_until', previous_until), ${by}
    from rotated join old using (id)`;
}

/** Writes the times of last use. A token that another transaction has locked is skipped until the next use. */
export async function writeLastUsed(
  sql: Queryable,
  used: readonly { id: number; at: Date }[],
  minimumSeconds: number,
): Promise<void> {
  await sql`
    with due as (
      select t.id, of.at
      from unnest(${used.map((each) => each.id)}::bigint[], ${used.map((each) => each.at.toISOString())}::timestamptz[]) as of (id, at)
      join gateway.api_tokens t using (id)
      where t.last_used_at is null or t.last_used_at < of.at - make_interval(secs => ${minimumSeconds})
      for update of t skip locked
    )
    update gateway.api_tokens t set last_used_at = due.at from due where due.id = t.id`;
}

/** Every change gives another `version`. */
type Changed = { id: number; version: string };

/** Reads tokens and users that changed since a time. `at` is the database's time, from which the next read starts. */
export async function selectChangedSince(
  sql: Queryable,
  since: Date,
): Promise<{ at: Date; tokens: Changed[]; users: Changed[] }> {
  const rows = await sql<{ now: Date; kind: 'token' | 'user' | null; id: number; version: string }[]>`
    select clock.now, changed.* from (select now()) clock
    left join (
      select 'token' as kind, id, updated_at::text as version from gateway.api_tokens where updated_at >= ${since}
      union all select 'user', user_id, updated_at::text from gateway.user_limits where updated_at >= ${since}
    ) changed on true`;
  const of = (kind: string) => rows.flatMap((row) => (row.kind === kind ? [{ id: row.id, version: row.version }] : []));
  return { at: rows[0]!.now, tokens: of('token'), users: of('user') };
}

export type TokenChange = {
  id: number;
  token_id: number | null;
  user_id: number;
  action: 'create' | 'update' | 'revoke' | 'rotate' | 'user_limits';
  details: Record<string, unknown>;
  changed_by: string;
  changed_at: Date;
};

/** A page of the trail of a token, or of a user with all tokens; the newest first. */
export async function selectTokenChanges(
  sql: Sql,
  { token_id, user_id }: { token_id?: number; user_id: number },
  paging: Paging,
): Promise<{ rows: TokenChange[]; total: number }> {
  const where = sql`user_id = ${user_id} ${token_id === undefined ? sql`` : sql`and token_id = ${token_id}`}`;
  const rows = await sql<(TokenChange & { total: number })[]>`
    with page as (
      select id, token_id, user_id, action, details, changed_by, changed_at from gateway.token_changes where ${where}
      order by id desc limit ${paging.size} offset ${paging.offset}
    ), counted as (select count(*)::int as total from gateway.token_changes where ${where})
    select page.*, counted.total from counted left join page on true order by page.id desc`;
  return {
    rows: rows.flatMap(({ total: _, ...row }) => (row.id === null ? [] : [row])),
    total: rows[0]?.total ?? 0,
  };
}

/** Finds tokens by id, by the beginning of a secret (`tp-4fK9`), or by a whole secret. */
export async function tokensNamed(sql: Queryable, given: string): Promise<TokenRow[]> {
  if (/^\d{1,15}$/.test(given)) {
    const row = await selectToken(sql, Number(given));
    return row ? [row] : [];
  }
  if (isSecret(given)) return selectTokensByDigest(sql, [digestOf(given)]);
  // All secrets begin with the mark, so the mark alone identifies no token.
  return given.length > mark.length ? selectTokensByPrefix(sql, given) : [];
}

export type TokenFacts = { active: number; expired: number; expiring: number; unlimited: number };

/**
 * Counts tokens: active, expired but not revoked, active for at most a week, and active without a limit of requests.
 * `defaultRpm` is the limit of users without a limit of their own.
 */
export async function selectTokenFacts(sql: Queryable, defaultRpm: number): Promise<TokenFacts> {
  const [row] = await sql<TokenFacts[]>`
    with tokens as (
      select t.expires_at, t.expires_at is null or t.expires_at > now() as current,
             coalesce(u.rpm_limit, ${defaultRpm}) = 0 and coalesce(t.rpm_limit, u.rpm_limit, ${defaultRpm}) = 0 as unlimited
      from gateway.api_tokens t ${withLimits(sql)}
      where t.revoked_at is null
    )
    select count(*) filter (where current)::int as active,
           count(*) filter (where not current)::int as expired,
           count(*) filter (where current and expires_at < now() + interval '7 days')::int as expiring,
           count(*) filter (where current and unlimited)::int as unlimited
    from tokens`;
  return row!;
}
