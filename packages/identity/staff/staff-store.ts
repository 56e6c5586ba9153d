import type { Queryable, Transaction } from '@tradepost/postgres';
import { maxRoles, maxStaff } from '../limits.ts';

export type Role = { id: number; name: string; permissions: string[]; created_at: Date };
export type StaffRow = { id: number; username: string; role_id: number; status: number; created_at: Date };
export type StaffWithRole = StaffRow & { permissions: string[]; role_name: string };

/** Allows one change of accounts or roles at a time. Changes are rare, and each checks all accounts. Reads are not blocked. */
export async function lockStaffAndRoles(tx: Transaction): Promise<void> {
  await tx`lock table identity.roles, identity.staff in share row exclusive mode`;
}

export async function selectRoles(sql: Queryable): Promise<Role[]> {
  return sql<Role[]>`select id, name, permissions, created_at from identity.roles order by id limit ${maxRoles}`;
}

export async function selectRole(sql: Queryable, id: number): Promise<Role | undefined> {
  const [row] = await sql<Role[]>`select id, name, permissions, created_at from identity.roles where id = ${id}`;
  return row;
}

/** The numbers of roles and administrators. */
export async function countStaffAndRoles(tx: Transaction): Promise<{ roles: number; staff: number }> {
  const [row] = await tx<{ roles: number; staff: number }[]>`
    select (select count(*)::int from identity.roles) as roles, (select count(*)::int from identity.staff) as staff`;
  return row!;
}

/** Whether there is an administrator of the demo seed. */
export async function hasDemoStaff(sql: Queryable): Promise<boolean> {
  const rows = await sql`select id from identity.staff where is_demo limit 1`;
  return rows.length > 0;
}

/** Returns undefined when the name is in use. */
export async function insertRole(tx: Queryable, name: string, permissions: string[]): Promise<Role | undefined> {
  const [row] = await tx<Role[]>`
    insert into identity.roles (name, permissions) values (${name}, ${permissions})
    on conflict (name) do nothing returning id, name, permissions, created_at`;
  return row;
}

/** Returns false when another role has the name. */
export async function updateRole(tx: Transaction, role: Omit<Role, 'created_at'>): Promise<boolean> {
  const rows = await tx`
    update identity.roles set name = ${role.name}, permissions = ${role.permissions}
    where id = ${role.id}
      and not exists (select from identity.roles where name = ${role.name} and id <> ${role.id})
    returning id`;
  return rows.length > 0;
}

/** Returns false when an administrator has the role. */
export async function deleteRole(tx: Transaction, id: number): Promise<boolean> {
  const rows = await tx`
    delete from identity.roles
    where id = ${id} and not exists (select from identity.staff where role_id = ${id}) returning id`;
  return rows.length > 0;
}

export async function selectStaffOfRole(sql: Queryable, roleId: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`select id from identity.staff where role_id = ${roleId} order by id`;
  return rows.map((row) => row.id);
}

export async function selectAllStaff(sql: Queryable): Promise<StaffWithRole[]> {
  return sql<StaffWithRole[]>`
    select s.id, s.username, s.role_id, s.status, s.created_at, r.permissions, r.name as role_name
    from identity.staff s join identity.roles r on r.id = s.role_id order by s.id limit ${maxStaff}`;
}

export async function selectStaffWithRole(sql: Queryable, id: number): Promise<StaffWithRole | undefined> {
  const [row] = await sql<StaffWithRole[]>`
    select s.id, s.username, s.role_id, s.status, s.created_at, r.permissions, r.name as role_name
    from identity.staff s join identity.roles r on r.id = s.role_id where s.id = ${id}`;
  return row;
}

/** The name of the first enabled administrator with all permissions, or '' when the shop has none. */
export async function selectOwner(sql: Queryable): Promise<string> {
  const [row] = await sql<{ username: string }[]>`
    select s.username from identity.staff s join identity.roles r on r.id = s.role_id
    where s.status = 1 and '*' = any(r.permissions) order by s.id limit 1`;
  return row?.username ?? '';
}

/** The number of enabled administrators with all permissions, without this one and without those of this role. */
export async function countOtherFullAdministrators(
  sql: Queryable,
  without: { staffId?: number; roleId?: number; demo: boolean },
): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from identity.staff s join identity.roles r on r.id = s.role_id
    where s.status = 1 and '*' = any(r.permissions)
      and s.id <> ${without.staffId ?? 0} and s.role_id <> ${without.roleId ?? 0}
      and not (s.is_demo and ${without.demo})`;
  return row!.n;
}

export async function insertStaffRow(
  tx: Transaction,
  staff: { username: string; passwordHash: string; role_id: number; status: number },
): Promise<StaffRow | undefined> {
  const [row] = await tx<StaffRow[]>`
    insert into identity.staff (username, password_hash, role_id, status)
    values (${staff.username}, ${staff.passwordHash}, ${staff.role_id}, ${staff.status})
    on conflict (username) do nothing returning id, username, role_id, status, created_at`;
  return row;
}

/** With `passwordHash` null the password stays. Returns false when another administrator has the name. */
export async function updateStaffRow(
  tx: Transaction,
  staff: { id: number; username: string; role_id: number; status: number; passwordHash: string | null },
): Promise<boolean> {
  const rows = await tx`
    update identity.staff
    set username = ${staff.username}, role_id = ${staff.role_id}, status = ${staff.status},
        password_hash = coalesce(${staff.passwordHash}, password_hash),
        -- with a new password the account is no longer a demo account with a known password
        is_demo = is_demo and ${staff.passwordHash}::text is null, updated_at = now()
    where id = ${staff.id}
      and not exists (select from identity.staff where username = ${staff.username} and id <> ${staff.id})
    returning id`;
  return rows.length > 0;
}

export async function deleteStaffRow(tx: Transaction, id: number): Promise<void> {
  await tx`delete from identity.staff where id = ${id}`;
}
