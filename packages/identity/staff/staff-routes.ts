import { isoInZone } from '@tradepost/core';
import { defineRoute, list, nothing, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { z } from 'zod';
import { identityErrors } from '../errors.ts';
import { maxPermissions, maxRoles, maxStaff } from '../limits.ts';
import { hashPassword } from '../shoppers/passwords.ts';
import type { Tokens } from '../tokens/tokens.ts';
import { createRole, deleteRole, updateRole } from './manage-roles.ts';
import { addStaff, changeStaff, removeStaff } from './manage-staff.ts';
import { assignableCodes, manageStaff, servedCodes } from './permissions.ts';
import {
  accountParams,
  roleBody,
  roleChangeBody,
  roleView,
  staffBody,
  staffChangeBody,
  staffView,
} from './staff-schemas.ts';
import { type Role, type StaffRow, selectAllStaff, selectRoles } from './staff-store.ts';

const tag = 'Administrators';

/** `routes` returns all served routes. A role can have their permissions. */
export function staffRoutes(runtime: Runtime, tokens: Tokens, routes: () => readonly Route[]): Route[] {
  const { sql, settings } = runtime;
  const deps = { runtime, tokens };
  const iso = (at: Date) => isoInZone(at, settings.get(timeZone));
  const known = () => assignableCodes(routes());
  const roleViewOf = ({ id, name, permissions, created_at }: Role) => ({
    ...{ id, name, permissions },
    created_at: iso(created_at),
  });
  const staffViewOf = ({ id, username, role_id, status, created_at }: StaffRow) => ({
    ...{ id, username, role_id },
    status: status === 1 ? (1 as const) : (0 as const),
    created_at: iso(created_at),
  });
  const shared = { auth: 'staff', permission: manageStaff, tag } as const;

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/admin/api/permissions',
      summary: 'The permission codes of the modules that run, group by group',
      statements: 0,
      response: list(z.string().meta({ examples: ['order:view'] }), maxPermissions),
      handle: () => servedCodes(routes()),
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/admin/api/roles',
      summary: 'All roles',
      statements: 1,
      response: list(roleView, maxRoles),
      handle: async () => (await selectRoles(sql)).map(roleViewOf),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/admin/api/roles',
      summary: 'Add a role',
      statements: 3,
      body: roleBody,
      response: roleView,
      refuses: [
        identityErrors.unknown_permission,
        identityErrors.beyond_own_permissions,
        identityErrors.too_many_roles,
        identityErrors.role_name_taken,
      ],
      repeat: 'recorded',
      handle: ({ caller, body, write }) => write(async (tx) => roleViewOf(await createRole(tx, caller, known(), body))),
    }),
    defineRoute({
      ...shared,
      method: 'PUT',
      path: '/admin/api/roles/:id',
      summary: 'Change a role; new permissions log out the administrators with this role',
      statements: 7,
      params: accountParams,
      body: roleChangeBody,
      response: nothing,
      refuses: [
        identityErrors.role_not_found,
        identityErrors.unknown_permission,
        identityErrors.beyond_own_permissions,
        identityErrors.own_account,
        identityErrors.last_administrator,
        identityErrors.role_name_taken,
      ],
      repeat: 'recorded',
      async handle({ caller, params, body, write }) {
        await updateRole(deps, caller, known(), params.id, body, write);
        return null;
      },
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/admin/api/roles/:id',
      summary: 'Remove a role that no administrator has',
      statements: 3,
      params: accountParams,
      response: nothing,
      refuses: [identityErrors.role_not_found, identityErrors.beyond_own_permissions, identityErrors.role_in_use],
      repeat: 'recorded',
      async handle({ caller, params, write }) {
        await write((tx) => deleteRole(tx, caller, params.id));
        return null;
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/admin/api/admins',
      summary: 'All administrators',
      statements: 1,
      response: list(staffView, maxStaff),
      handle: async () => (await selectAllStaff(sql)).map(staffViewOf),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/admin/api/admins',
      summary: 'Add an administrator',
      statements: 4,
      body: staffBody,
      response: staffView,
      refuses: [
        identityErrors.role_id_not_found,
        identityErrors.beyond_own_permissions,
        identityErrors.too_many_staff,
        identityErrors.username_taken,
      ],
      repeat: 'recorded',
      async handle({ caller, body, write }) {
        const { password, ...account } = body;
        const passwordHash = await hashPassword(password);
        return write(async (tx) => staffViewOf(await addStaff(tx, caller, { ...account, passwordHash })));
      },
    }),
    defineRoute({
      ...shared,
      method: 'PUT',
      path: '/admin/api/admins/:id',
      summary: 'Change an administrator; a new password, role or status ends the tokens of the account',
      statements: 7,
      params: accountParams,
      body: staffChangeBody,
      response: nothing,
      refuses: [
        identityErrors.staff_not_found,
        identityErrors.role_id_not_found,
        identityErrors.beyond_own_permissions,
        identityErrors.own_account,
        identityErrors.first_administrator,
        identityErrors.last_administrator,
        identityErrors.username_taken,
      ],
      repeat: 'recorded',
      async handle({ caller, params, body, write }) {
        await changeStaff(deps, caller, params.id, body, write);
        return null;
      },
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/admin/api/admins/:id',
      summary: 'Remove an administrator',
      statements: 6,
      params: accountParams,
      response: nothing,
      refuses: [
        identityErrors.staff_not_found,
        identityErrors.beyond_own_permissions,
        identityErrors.own_account,
        identityErrors.first_administrator,
        identityErrors.last_administrator,
      ],
      repeat: 'recorded',
      async handle({ caller, params, write }) {
        await removeStaff(deps, caller, params.id, write);
        return null;
      },
    }),
  ];
}
