import type { Queryable } from '@tradepost/postgres';
import { identityErrors } from '../errors.ts';
import { everything } from '../staff/permissions.ts';
import { ensureRole, insertShopper, insertStaff } from './identity-store.ts';
import { hashPassword } from './passwords.ts';

/** The role with all permissions. It is created with the first administrator. */
const fullRole = 'Administrator';

/**
 * Creates an administrator and returns the id. Refuses a name that is in use, and an unknown role. Without a role it is the one with
 * all permissions; throws when staff have taken some from it.
 */
export async function createStaff(
  sql: Queryable,
  staff: { username: string; password: string; role?: string | undefined; isDemo?: boolean },
): Promise<number> {
  const name = staff.role ?? fullRole;
  const role = await ensureRole(sql, name, name === fullRole ? [everything] : null);
  if (!role) throw identityErrors.role_not_found({ role: name });
  if (staff.role === undefined && !role.permissions.includes(everything))
    throw new Error(`the role ${fullRole} no longer has all permissions: name the role of the administrator`);
  const passwordHash = await hashPassword(staff.password);
  const id = await insertStaff(sql, {
    username: staff.username,
    passwordHash,
    roleId: role.id,
    isDemo: staff.isDemo ?? false,
  });
  if (id === undefined) throw identityErrors.username_taken({ username: staff.username });
  return id;
}

/** Creates a shopper with a password and returns the id. Refuses a name that is in use. */
export async function createShopper(
  sql: Queryable,
  shopper: { username: string; password: string; nickname: string; phone?: string; isDemo?: boolean },
): Promise<number> {
  const passwordHash = await hashPassword(shopper.password);
  const { username, nickname, phone = null, isDemo = false } = shopper;
  const id = await insertShopper(sql, { username, passwordHash, nickname, phone, isDemo });
  if (id === undefined) throw identityErrors.username_taken({ username });
  return id;
}
