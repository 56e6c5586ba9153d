import type { Queryable, Transaction } from '@tradepost/postgres';

export type Shopper = {
  id: number;
  username: string | null;
  phone: string | null;
  password_hash: string | null;
  nickname: string;
  avatar: string;
  status: number;
  is_demo: boolean;
  /** The generation of new tokens of this account (see token-store.ts). */
  generation: number;
  created_at: Date;
};
export type Staff = {
  id: number;
  username: string;
  password_hash: string;
  status: number;
  is_demo: boolean;
  generation: number;
  role_name: string;
  permissions: string[];
  created_at: Date;
};

export async function selectShopperByLogin(sql: Queryable, username: string): Promise<Shopper | undefined> {
  const [row] = await sql<Shopper[]>`
    select s.id, s.username, s.phone, s.password_hash, s.nickname, s.avatar, s.status, s.is_demo,
           coalesce(f.generation, 0) as generation, s.created_at
    from identity.shoppers s left join identity.token_floors f on f.role = 'user' and f.account_id = s.id
    where s.username = ${username}`;
  return row;
}

export async function selectShopper(sql: Queryable, id: number): Promise<Shopper | undefined> {
  const [row] = await sql<Shopper[]>`
    select s.id, s.username, s.phone, s.password_hash, s.nickname, s.avatar, s.status, s.is_demo,
           coalesce(f.generation, 0) as generation, s.created_at
    from identity.shoppers s left join identity.token_floors f on f.role = 'user' and f.account_id = s.id
    where s.id = ${id}`;
  return row;
}

export async function selectNicknames(sql: Queryable, ids: readonly number[]): Promise<Map<number, string>> {
  const rows = await sql<{ id: number; nickname: string }[]>`
    select id, nickname from identity.shoppers where id = any(${[...ids]}::bigint[])`;
  return new Map(rows.map((row) => [row.id, row.nickname]));
}

export async function selectStaffByLogin(sql: Queryable, username: string): Promise<Staff | undefined> {
  const [row] = await sql<Staff[]>`
    select s.id, s.username, s.password_hash, s.status, s.is_demo, coalesce(f.generation, 0) as generation,
           r.name as role_name, r.permissions, s.created_at
    from identity.staff s join identity.roles r on r.id = s.role_id
    left join identity.token_floors f on f.role = 'admin' and f.account_id = s.id
    where s.username = ${username}`;
  return row;
}

export async function selectStaff(sql: Queryable, id: number): Promise<Staff | undefined> {
  const [row] = await sql<Staff[]>`
    select s.id, s.username, s.password_hash, s.status, s.is_demo, coalesce(f.generation, 0) as generation,
           r.name as role_name, r.permissions, s.created_at
    from identity.staff s join identity.roles r on r.id = s.role_id
    left join identity.token_floors f on f.role = 'admin' and f.account_id = s.id
    where s.id = ${id}`;
  return row;
}

/** Returns the id, or undefined when the user name is in use. */
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

/** Returns the id of the role. With `permissions` a missing role is created, else the result is undefined. */
export async function ensureRole(
  sql: Queryable,
  name: string,
  permissions: string[] | null,
): Promise<{ id: number; permissions: string[] } | undefined> {
  if (permissions)
    await sql`
      insert into identity.roles (name, permissions) values (${name}, ${permissions}) on conflict (name) do nothing`;
  const [row] = await sql<{ id: number; permissions: string[] }[]>`
    select id, permissions from identity.roles where name = ${name}`;
  return row;
}

/** Identifies a shopper in a login without a password. */
export type LoginKey = { column: 'phone' | 'wechat_open_id'; value: string };

/** Finds or creates the shopper of this phone or open id. Two parallel calls return the same shopper. */
export async function findOrInsertShopper(tx: Transaction, key: LoginKey, nickname: string): Promise<Shopper> {
  const column = tx(key.column);
  await tx`
    insert into identity.shoppers (${column}, nickname) values (${key.value}, ${nickname})
    on conflict (${column}) do nothing`;
  const [row] = await tx<Shopper[]>`
    select s.id, s.username, s.phone, s.password_hash, s.nickname, s.avatar, s.status, s.is_demo,
           coalesce(f.generation, 0) as generation, s.created_at
    from identity.shoppers s left join identity.token_floors f on f.role = 'user' and f.account_id = s.id
    where s.${column} = ${key.value}`;
  return row!;
}

/** Removes personal data from the row, and the addresses. Returns false when there is no such enabled account. */
export async function deleteShopper(tx: Transaction, id: number, phone: string, at: Date): Promise<boolean> {
  const deleted = await tx`
    update identity.shoppers
    set status = 0, phone = 'deleted:' || id, nickname = 'Deleted user', avatar = '', username = null,
        password_hash = null, wechat_open_id = null, deleted_at = ${at}, updated_at = now()
    where id = ${id} and phone = ${phone} and status = 1
    returning id`;
  if (deleted.length === 0) return false;
  // Orders keep their delivery address. The receivers by which orders are searched are deleted.
  await tx`
    with former as (delete from identity.former_receivers where user_id = ${id})
    delete from identity.addresses where user_id = ${id}`;
  return true;
}
