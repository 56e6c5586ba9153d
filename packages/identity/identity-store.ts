import type { Queryable, Sql } from '@tradepost/runtime';

export type Shopper = {
  id: number;
  username: string | null;
  phone: string | null;
  password_hash: string | null;
  nickname: string;
  avatar: string;
  points: number;
  status: number;
  is_demo: boolean;
  created_at: Date;
};
export type Staff = {
  id: number;
  username: string;
  password_hash: string;
  status: number;
  is_demo: boolean;
  role_name: string;
  permissions: string[];
  created_at: Date;
};
export type SigningKey = { kid: string; secret: Buffer };

export async function selectShopperByLogin(sql: Queryable, username: string): Promise<Shopper | undefined> {
  const [row] = await sql<Shopper[]>`
    select id, username, phone, password_hash, nickname, avatar, points, status, is_demo, created_at
    from identity.shoppers where username = ${username}`;
  return row;
}

export async function selectShopper(sql: Queryable, id: number): Promise<Shopper | undefined> {
  const [row] = await sql<Shopper[]>`
    select id, username, phone, password_hash, nickname, avatar, points, status, is_demo, created_at
    from identity.shoppers where id = ${id}`;
  return row;
}

export async function selectNicknames(sql: Queryable, ids: readonly number[]): Promise<Map<number, string>> {
  const rows = await sql<{ id: number; nickname: string }[]>`
    select id, nickname from identity.shoppers where id = any(${[...ids]}::bigint[])`;
  return new Map(rows.map((row) => [row.id, row.nickname]));
}

export async function selectStaffByLogin(sql: Queryable, username: string): Promise<Staff | undefined> {
  const [row] = await sql<Staff[]>`
    select s.id, s.username, s.password_hash, s.status, s.is_demo, r.name as role_name, r.permissions, s.created_at
    from identity.staff s join identity.roles r on r.id = s.role_id
    where s.username = ${username}`;
  return row;
}

export async function selectStaff(sql: Queryable, id: number): Promise<Staff | undefined> {
  const [row] = await sql<Staff[]>`
    select s.id, s.username, s.password_hash, s.status, s.is_demo, r.name as role_name, r.permissions, s.created_at
    from identity.staff s join identity.roles r on r.id = s.role_id
    where s.id = ${id}`;
  return row;
}

/** Answers the id, or undefined when the user name is taken. */
export async function insertShopper(
  sql: Queryable,
  shopper: { username: string; passwordHash: string; nickname: string; phone: string | null; isDemo: boolean },
): Promise<number | undefined> {
  const [row] = await sql<{ id: number }[]>`
    insert into identity.shoppers (username, password_hash, nickname, phone, is_demo)
    values (${shopper.username}, ${shopper.passwordHash}, ${shopper.nickname}, ${shopper.phone}, ${shopper.isDemo})
    on conflict do nothing returning id`;
  return row?.id;
}

export async function insertStaff(
  sql: Queryable,
  staff: { username: string; passwordHash: string; roleId: number; isDemo: boolean },
): Promise<number | undefined> {
  const [row] = await sql<{ id: number }[]>`
    insert into identity.staff (username, password_hash, role_id, is_demo)
    values (${staff.username}, ${staff.passwordHash}, ${staff.roleId}, ${staff.isDemo})
    on conflict (username) do nothing returning id`;
  return row?.id;
}

/** The role of that name; created with `permissions` when it is missing and they are given. */
export async function ensureRole(
  sql: Queryable,
  name: string,
  permissions: string[] | null,
): Promise<number | undefined> {
  if (permissions)
    await sql`
      insert into identity.roles (name, permissions) values (${name}, ${permissions}) on conflict (name) do nothing`;
  const [row] = await sql<{ id: number }[]>`select id from identity.roles where name = ${name}`;
  return row?.id;
}

export async function selectSigningKeys(sql: Sql): Promise<SigningKey[]> {
  return sql<SigningKey[]>`select kid, secret from identity.signing_keys order by created_at, kid`;
}

/** With `onlyFirst` nothing happens when there is a key; the table lock settles two instances starting at once. */
export async function addSigningKey(sql: Sql, kid: string, secret: Buffer, { onlyFirst = false } = {}): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`lock table identity.signing_keys in share row exclusive mode`;
    await tx`
      insert into identity.signing_keys (kid, secret)
      select ${kid}, ${secret} where not (${onlyFirst} and exists (select from identity.signing_keys))`;
  });
}

export async function insertRevokedToken(sql: Sql, jti: string, expiresAt: Date): Promise<void> {
  await sql`
    insert into identity.revoked_tokens (jti, expires_at) values (${jti}, ${expiresAt}) on conflict do nothing`;
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

export async function deleteExpiredRevocations(sql: Sql): Promise<void> {
  await sql`delete from identity.revoked_tokens where expires_at < now() - interval '1 day'`;
}
