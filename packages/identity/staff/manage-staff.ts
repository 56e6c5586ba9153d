import type { Transaction } from '@tradepost/postgres';
import type { Write } from '@tradepost/runtime';
import { identityErrors } from '../errors.ts';
import { maxStaff } from '../limits.ts';
import { hashPassword } from '../shoppers/passwords.ts';
import { type Floor, raiseFloors } from '../tokens/token-store.ts';
import type { ManageDeps } from './manage-roles.ts';
import { type Actor, everything, manageStaff, mayDo, refuseBeyond } from './permissions.ts';
import {
  countOtherFullAdministrators,
  countStaffAndRoles,
  deleteStaffRow,
  insertStaffRow,
  lockStaffAndRoles,
  type StaffRow,
  type StaffWithRole,
  selectRole,
  selectStaffWithRole,
  updateStaffRow,
} from './staff-store.ts';

/** The first administrator of the shop. It cannot be deleted, because that could lock out all administrators. */
const firstId = 1;

export type StaffChange = {
  username?: string | undefined;
  password?: string | undefined;
  role_id?: number | undefined;
  status?: number | undefined;
};

async function permissionsOf(tx: Transaction, actor: Actor, roleId: number): Promise<string[]> {
  const role = await selectRole(tx, roleId);
  if (!role) throw identityErrors.role_id_not_found({ role: roleId });
  refuseBeyond(actor, ...role.permissions);
  return role.permissions;
}

export async function addStaff(
  tx: Transaction,
  actor: Actor,
  given: { username: string; passwordHash: string; role_id: number; status: number },
): Promise<StaffRow> {
  await lockStaffAndRoles(tx);
  await permissionsOf(tx, actor, given.role_id);
  if ((await countStaffAndRoles(tx)).staff >= maxStaff) throw identityErrors.too_many_staff({ max: maxStaff });
  const row = await insertStaffRow(tx, given);
  if (!row) throw identityErrors.username_taken({ username: given.username });
  return row;
}

/** Locks and returns the administrator. Refuses when the actor lacks one of its permissions. */
async function lockedStaff(tx: Transaction, actor: Actor, id: number): Promise<StaffWithRole> {
  await lockStaffAndRoles(tx);
  const staff = await selectStaffWithRole(tx, id);
  if (!staff) throw identityErrors.staff_not_found({ id });
  refuseBeyond(actor, ...staff.permissions);
  return staff;
}

/** Refuses a change of the last enabled administrator with all permissions. */
async function refuseForLastAdministrator(tx: Transaction, staff: StaffWithRole, production: boolean): Promise<void> {
  if (staff.status !== 1 || !staff.permissions.includes(everything)) return;
  if ((await countOtherFullAdministrators(tx, { staffId: staff.id, demo: production })) === 0)
    throw identityErrors.last_administrator();
}

/** Changes the given fields. A new password, role or status ends all tokens of the account. */
export async function changeStaff(
  { runtime, tokens }: ManageDeps,
  actor: Actor,
  id: number,
  given: StaffChange,
  write: Write = (work) => runtime.idempotency.write(null, work),
): Promise<void> {
  const passwordHash = given.password ? await hashPassword(given.password) : null;
  const floors = await write(async (tx): Promise<Floor[]> => {
    const before = await lockedStaff(tx, actor, id);
    const { username = before.username, role_id = before.role_id, status = before.status } = given;
    const newRole = role_id !== before.role_id;
    const permissions = newRole ? await permissionsOf(tx, actor, role_id) : before.permissions;
    const disables = before.status === 1 && status === 0;
    if (id === actor.id && (disables || !mayDo(permissions, manageStaff))) throw identityErrors.own_account();
    if (disables && id === firstId) throw identityErrors.first_administrator();
    if (disables || !permissions.includes(everything))
      await refuseForLastAdministrator(tx, before, runtime.config.production);
    if (!(await updateStaffRow(tx, { id, username, role_id, status, passwordHash })))
      throw identityErrors.username_taken({ username });
    return newRole || status !== before.status || passwordHash !== null ? raiseFloors(tx, 'admin', [id]) : [];
  });
  tokens.announce(floors);
}

export async function removeStaff(
  { runtime, tokens }: ManageDeps,
  actor: Actor,
  id: number,
  write: Write,
): Promise<void> {
  const floors = await write(async (tx) => {
    const staff = await lockedStaff(tx, actor, id);
    if (id === actor.id) throw identityErrors.own_account();
    if (id === firstId) throw identityErrors.first_administrator();
    await refuseForLastAdministrator(tx, staff, runtime.config.production);
    await deleteStaffRow(tx, id);
    return raiseFloors(tx, 'admin', [id]);
  });
  tokens.announce(floors);
}
