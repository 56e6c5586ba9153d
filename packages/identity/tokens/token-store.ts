import type { Queryable, Sql } from '@tradepost/postgres';

export type SigningKey = { kid: string; secret: Buffer };
export type AccountRole = 'user' | 'admin';
/** Tokens of the account whose generation is lower are void. */
export type Floor = { role: AccountRole; account_id: number; generation: number };

/** No token lives longer (TOKEN_HOURS and `token issue --hours` are bounded by it). */
export const longestTokenHours = 24 * 366;

/** The oldest first: the last one signs. */
export async function selectSigningKeys(sql: Sql): Promise<SigningKey[]> {
  return sql<SigningKey[]>`select kid, secret from identity.signing_keys order by created_at, kid`;
}

/** With `onlyFirst` nothing happens when there is a key; the table lock settles two instances starting at once. */
export async function addSigningKey(sql: Sql, kid: string, secret: Buffer, { onlyFirst = false } = {}): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`lock table identity.signing_keys in share row exclusive mode`;
    // After the newest key, whatever the clocks say: the newest is the one that signs.
    await tx`
      insert into identity.signing_keys (kid, secret, created_at)
      select ${kid}, ${secret},
             greatest(clock_timestamp(), (select max(created_at) + interval '1 ms' from identity.signing_keys))
      where not (${onlyFirst} and exists (select from identity.signing_keys))`;
  });
}

/** Every key but the newest; answers how many. */
export async function deleteOldSigningKeys(sql: Queryable): Promise<number> {
  const gone = await sql`
    delete from identity.signing_keys k
    where exists (select from identity.signing_keys n where (n.created_at, n.kid) > (k.created_at, k.kid))
    returning kid`;
  return gone.length;
}

/** A token is to live longer than the configured hours: its key is kept for it. */
export async function keepSigningKey(sql: Queryable, kid: string, until: Date): Promise<void> {
  await sql`
    update identity.signing_keys set needed_until = greatest(needed_until, ${until}) where kid = ${kid}`;
}

/**
 * Keys that were replaced longer ago than a token lives. The hour is for instances that learn of a new key late.
 * Answers how many.
 */
export async function deleteUnneededSigningKeys(sql: Queryable, tokenHours: number): Promise<number> {
  const gone = await sql`
    delete from identity.signing_keys k
    where exists (
            select from identity.signing_keys n
            where (n.created_at, n.kid) > (k.created_at, k.kid)
              and n.created_at < now() - make_interval(hours => ${tokenHours + 1}))
      and (k.needed_until is null or k.needed_until < now())
    returning kid`;
  return gone.length;
}

export async function insertRevokedToken(sql: Queryable, jti: string, expiresAt: Date): Promise<void> {
  await sql`
    insert into identity.revoked_tokens (jti, expires_at) values (${jti}, ${expiresAt}) on conflict do nothing`;
}

export async function isRevoked(sql: Queryable, jti: string): Promise<boolean> {
  const rows = await sql`select from identity.revoked_tokens where jti = ${jti}`;
  return rows.length > 0;
}

/** What was revoked since then, and the database's time to ask from the next time. */
export async function selectRevokedSince(
  sql: Sql,
  since: Date,
): Promise<{ at: Date; revoked: { jti: string; expires_at: Date }[] }> {
  const rows = await sql<{ at: Date; jti: string | null; expires_at: Date }[]>`
    select clock.at, r.jti, r.expires_at
    from (select now() as at) clock
    left join identity.revoked_tokens r on r.revoked_at >= ${since} and r.expires_at > clock.at`;
  const revoked = rows.flatMap(({ jti, expires_at }) => (jti === null ? [] : [{ jti, expires_at }]));
  return { at: rows[0]!.at, revoked };
}

/** Voids every token these accounts have. Tell the instances after the commit (`tokens.announce`). */
export async function raiseFloors(sql: Queryable, role: AccountRole, ids: readonly number[]): Promise<Floor[]> {
  if (ids.length === 0) return [];
  // The number is drawn under the row's lock: of two raises the one that commits last has the higher one.
  return sql<Floor[]>`
    insert into identity.token_floors as f (role, account_id, generation, raised_at)
    select ${role}, id, nextval('identity.token_generation'), clock_timestamp()
    from unnest(${[...new Set(ids)].sort((a, b) => a - b)}::bigint[]) as of (id)
    on conflict (role, account_id) do update
      set generation = nextval('identity.token_generation'), raised_at = clock_timestamp()
    returning role, account_id, generation`;
}

export async function selectFloorsSince(sql: Sql, since: Date): Promise<Floor[]> {
  return sql<Floor[]>`
    select role, account_id, generation from identity.token_floors where raised_at >= ${since}`;
}

export async function selectFloor(sql: Queryable, role: AccountRole, id: number): Promise<number> {
  const [row] = await sql<{ generation: number }[]>`
    select generation from identity.token_floors where role = ${role} and account_id = ${id}`;
  return row?.generation ?? 0;
}
