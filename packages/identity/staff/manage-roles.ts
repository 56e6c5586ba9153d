import type { Transaction } from '@tradepost/postgres';
import type { Runtime, Write } from '@tradepost/runtime';
import { identityErrors } from '../errors.ts';
import { maxRoles } from '../limits.ts';
import { raiseFloors } from '../tokens/token-store.ts';
import type { Tokens } from '../tokens/tokens.ts';
import { type Actor, everything, manageStaff, mayDo, refuseBeyond } from './permissions.ts';
import {
  countOtherFullAdministrators,
  countStaffAndRoles,
  deleteRole as deleteRoleRow,
  insertRole,
  lockStaffAndRoles,
  type Role,
  selectRole,
  selectStaffOfRole,
  updateRole as updateRoleRow,
} from './staff-store.ts';

export type ManageDeps = { runtime: Pick<Runtime, 'config' | 'idempotency'>; tokens: Pick<Tokens, 'announce'> };

function refuseUnknown(permissions: readonly string[], known: readonly string[]): void {
  const permission = permissions.find((code) => code !== everything && !known.includes(code));
  if (permission !== undefined) throw identityErrors.unknown_permission({ permission });
}

/** Creates a role. `known` is the list of all permission codes. */
export async function createRole(
  tx: Transaction,
  actor: Actor,
  known: readonly string[],
  given: { name: string; permissions: readonly string[] },
): Promise<Role> {
  const permissions = [...new Set(given.permissions)];
  refuseUnknown(permissions, known);
  refuseBeyond(actor, ...permissions);
  await lockStaffAndRoles(tx);
  if ((await countStaffAndRoles(tx)).roles >= maxRoles) throw identityErrors.too_many_roles({ max: maxRoles });
  const role = await insertRole(tx, given.name, permissions);
  if (!role) throw identityErrors.role_name_taken({ name: given.name });
  return role;
}

/** Locks and returns the role. Refuses when the actor lacks one of its permissions. */
async function lockedRole(tx: Transaction, actor: Actor, id: number): Promise<Role> {
  await lockStaffAndRoles(tx);
  const role = await selectRole(tx, id);
  if (!role) throw identityErrors.role_not_found({ role: id });
  refuseBeyond(actor, ...role.permissions);
  return role;
}

const sameCodes = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((code) => b.includes(code));

/** Changes a role. New permissions end the tokens of all administrators with the role, because tokens have the old ones. */
export async function updateRole(
  { runtime, tokens }: ManageDeps,
  actor: Actor,
  known: readonly string[],
  id: number,
  given: { name?: string | undefined; permissions?: readonly string[] | undefined },
  write: Write,
): Promise<void> {
  const { config } = runtime;
  const floors = await write(async (tx) => {
    const before = await lockedRole(tx, actor, id);
    const name = given.name ?? before.name;
    const permissions = [...new Set(given.permissions ?? before.permissions)];
    // Codes that the role has already are accepted, also when their module is switched off.
    refuseUnknown(permissions, [...known, ...before.permissions]);
    refuseBeyond(actor, ...permissions);
    const changed = !sameCodes(permissions, before.permissions);
    const holders = changed ? await selectStaffOfRole(tx, id) : [];
    if (holders.includes(actor.id) && !mayDo(permissions, manageStaff)) throw identityErrors.own_account();
    const loses = before.permissions.includes(everything) && !permissions.includes(everything);
    if (loses && holders.length > 0) {
      const others = await countOtherFullAdministrators(tx, { roleId: id, demo: config.production });
      if (others === 0) throw identityErrors.last_administrator();
    }
    if (!(await updateRoleRow(tx, { id, name, permissions }))) throw identityErrors.role_name_taken({ name });
    return raiseFloors(tx, 'admin', holders);
  });
  tokens.announce(floors);
}

export async function deleteRole(tx: Transaction, actor: Actor, id: number): Promise<void> {
  await lockedRole(tx, actor, id);
  if (!(await deleteRoleRow(tx, id))) throw identityErrors.role_in_use();
}
