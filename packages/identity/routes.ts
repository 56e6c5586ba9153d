import { isoInZone } from '@tradepost/core';
import { defineRoute, idParams, nothing, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { z } from 'zod';
import { type Address, deleteAddress, insertAddress, selectAddresses, updateAddress } from './address-store.ts';
import { identityErrors } from './errors.ts';
import { selectShopper, selectStaff } from './identity-store.ts';
import { loginAdministrator, loginAnyone } from './login.ts';
import { addressBody, addressView, adminLoginBody, loginBody, loginView, profileView } from './schemas.ts';
import type { Tokens } from './tokens.ts';

/** Three digits, four stars, four digits: enough to recognise one's own number. */
function maskedPhone(phone: string | null): string {
  return phone ? phone.replace(/^(\d{3})\d{4}(\d{4})$/, '$1****$2') : '';
}

const wrongLogin = { 401: 'Invalid username or password' };

export function identityRoutes(runtime: Runtime, tokens: Tokens): Route[] {
  const { sql, settings } = runtime;
  const iso = (at: Date) => isoInZone(at, settings.get(timeZone));
  const addressViewOf = (a: Address) => ({
    ...a,
    is_default: a.is_default ? (1 as const) : (0 as const),
    created_at: iso(a.created_at),
    updated_at: iso(a.updated_at),
  });

  return [
    defineRoute({
      method: 'POST',
      path: '/api/auth/login',
      auth: 'public',
      tag: 'Accounts',
      summary: 'Log in as a shopper or an administrator',
      body: loginBody,
      response: loginView,
      refusals: wrongLogin,
      handle: async ({ body }) => ({ token: await loginAnyone({ runtime, tokens }, body.username, body.password) }),
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/auth/login',
      auth: 'public',
      tag: 'Accounts',
      summary: 'Log in as an administrator',
      body: adminLoginBody,
      response: loginView,
      refusals: wrongLogin,
      handle: async ({ body }) => ({
        token: await loginAdministrator({ runtime, tokens }, body.username, body.password),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/auth/logout',
      auth: 'any',
      tag: 'Accounts',
      summary: 'End this token on every instance',
      response: nothing,
      async handle({ caller }) {
        await tokens.revoke(caller);
        return null;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/auth/profile',
      auth: 'any',
      tag: 'Accounts',
      summary: 'The account behind the token',
      response: profileView,
      async handle({ caller }) {
        if (caller.role === 'admin') {
          const staff = await selectStaff(sql, caller.id);
          if (!staff) throw identityErrors.account_gone();
          const { id, username, status, role_name, permissions: perms } = staff;
          return { id, role: 'admin' as const, username, status, role_name, perms, created_at: iso(staff.created_at) };
        }
        const shopper = await selectShopper(sql, caller.id);
        if (!shopper) throw identityErrors.account_gone();
        const { id, nickname, avatar, points, status } = shopper;
        const username = shopper.username ?? '';
        const phone = maskedPhone(shopper.phone);
        const created_at = iso(shopper.created_at);
        return { id, role: 'user' as const, username, phone, nickname, avatar, points, status, created_at };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/addresses',
      auth: 'shopper',
      tag: 'Addresses',
      summary: 'My addresses, the default first',
      response: z.array(addressView),
      handle: async ({ caller }) => (await selectAddresses(sql, caller.id)).map(addressViewOf),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/addresses',
      auth: 'shopper',
      tag: 'Addresses',
      summary: 'Add an address; the first one becomes the default',
      body: addressBody,
      response: addressView,
      async handle({ caller, body }) {
        const fields = { ...body, is_default: Boolean(body.is_default) };
        const address = await sql.begin((tx) => insertAddress(tx, caller.id, fields));
        if (!address) throw identityErrors.account_gone();
        return addressViewOf(address);
      },
    }),
    defineRoute({
      method: 'PUT',
      path: '/api/v1/addresses/:id',
      auth: 'shopper',
      tag: 'Addresses',
      summary: 'Replace an address',
      params: idParams,
      body: addressBody,
      response: addressView,
      refusals: { 404: 'Address not found' },
      async handle({ caller, params, body }) {
        const fields = { ...body, is_default: Boolean(body.is_default) };
        const address = await updateAddress(sql, caller.id, params.id, fields);
        if (!address) throw identityErrors.address_not_found();
        return addressViewOf(address);
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/v1/addresses/:id',
      auth: 'shopper',
      tag: 'Addresses',
      summary: 'Remove an address; the newest that remains becomes the default',
      params: idParams,
      response: nothing,
      refusals: { 404: 'Address not found' },
      async handle({ caller, params }) {
        if (!(await deleteAddress(sql, caller.id, params.id))) throw identityErrors.address_not_found();
        return null;
      },
    }),
  ];
}
