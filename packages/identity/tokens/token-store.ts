import type { Queryable, Sql } from '@tradepost/postgres';

export type SigningKey = { kid: string; secret: Buffer };
export type AccountRole = 'user' | 'admin';
/** Tokens of the account with a lower generation are void. */
export type Floor = { role: AccountRole; account_id: number; generation: number };

/** The longest lifetime of a token, also the bound of TOKEN_HOURS and of `token issue --hours`. */
export const longestTokenHours = 24 * 366;

/** All signing keys, oldest first. The last one signs. */
export async function selectSigningKeys(sql: Sql): Promise<SigningKey[]> {
  return sql<SigningKey[]>`select kid, secret from identity.signing_keys order by created_at, kid`;
}

/** Adds a signing key. With `onlyFirst` only when there is no key: the table lock orders instances that start together. */
export async function addSigningKey(sql: Sql, kid: string, secret: Buffer, { onlyFirst = false } = {}): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`lock table identity.signing_keys in share row exclusive mode`;
    // The new key is later than all others, whatever the clocks say, because the newest key signs.
    await tx`
      insert into identity.signing_keys (kid, secret, created_at)
      select ${kid}, ${secret},
             greatest(clock_timestamp(), (select max(created_at) + interval '1 ms' from identity.signing_keys))
      where not (${onlyFirst} and exists (select from identity.signing_keys))`;
  });
}

/** Deletes all keys except the newest. Returns the number of deleted keys. */
export async function deleteOldSigningKeys(sql: Queryable): Promise<number> {
  const deleted = await sql`
    delete from identity.signing_keys k
    where exists (select from identity.signing_keys n where (n.created_at, n.kid) > (k.created_at, k.kid))
    returning kid`;
  return deleted.length;
}

/** Keeps a key until this time, for a token that lives longer than the configured hours. */
export async function keepSigningKey(sql: Queryable, kid: string, until: Date): Promise<void> {
  await sql`
    update identity.signing_keys set needed_until = greatest(needed_until, ${until}) where kid = ${kid}`;
}

/**
 * Deletes keys that were replaced longer ago than the lifetime of a token plus one hour. The hour is for instances that learn
 * of a new key late. Returns the number of deleted keys.
 */
export async function deleteUnneededSigningKeys(sql: Queryable, tokenHours: number): Promise<number> {
  const deleted = await sql`
    delete from identity.signing_keys k
    where exists (
            select from identity.signing_keys n
            where (n.created_at, n.kid) > (k.created_at, k.kid)
              and n.created_at < now() - make_interval(hours => ${tokenHours + 1}))
      and (k.needed_until is null or k.needed_until < now())
    returning kid`;
  return deleted.length;
}

export async function insertRevokedToken(sql: Queryable, jti: string, expiresAt: Date): Promise<void> {
  await sql`
    insert into identity.revoked_tokens (jti, expires_at) values (${jti}, ${expiresAt}) on conflict do nothing`;
}

export async function isRevoked(sql: Queryable, jti: string): Promise<boolean> {
  const rows = await sql`select from identity.revoked_tokens where jti = ${jti}`;
  return rows.length > 0;
}

/** The tokens that were revoked since this time. `at` is the time of the database, from which the next call reads. */
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

/** Voids all tokens of these accounts. The caller notifies the instances after the commit (`tokens.announce`). */
export async function raiseFloors(sql: Queryable, role: AccountRole, ids: readonly number[]): Promise<Floor[]> {
  if (ids.length === 0) return [];
  // The number is drawn under the lock of the row, so the later of two transactions has the higher number.
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
