import { isoInZone } from '@tradepost/core';
import { defineRoute, idParams, list, nothing, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import {
  type Address,
  deleteAddress,
  insertAddress,
  selectAddresses,
  updateAddress,
} from './addresses/address-store.ts';
import { identityErrors } from './errors.ts';
import { maxAddresses } from './limits.ts';
import { loginRoutes } from './login/login-routes.ts';
import type { Messenger } from './messages/messenger.ts';
import { addressBody, addressView, profileView, userProfileView } from './schemas.ts';
import { selectShopper, selectStaff } from './shoppers/identity-store.ts';
import type { ProfileSection } from './shoppers/profile-sections.ts';
import { staffRoutes } from './staff/staff-routes.ts';
import type { Tokens } from './tokens/tokens.ts';

/** Masks the middle of a phone number: 138****0001. */
function maskedPhone(phone: string | null): string {
  return phone ? phone.replace(/^(\d{3})\d{4}(\d{4})$/, '$1****$2') : '';
}

type Deps = { runtime: Runtime; tokens: Tokens; messenger: Messenger; sections: readonly ProfileSection[] };

/** `routes` returns the routes of all modules. */
export function identityRoutes(
  { runtime, tokens, messenger, sections }: Deps,
  routes: () => readonly Route[],
): Route[] {
  const { sql, settings } = runtime;
  const iso = (at: Date) => isoInZone(at, settings.get(timeZone));
  const addressViewOf = (a: Address) => ({
    ...a,
    is_default: a.is_default ? (1 as const) : (0 as const),
    created_at: iso(a.created_at),
    updated_at: iso(a.updated_at),
  });
  const shopperProfile = async (userId: number) => {
    const [shopper, ...values] = await Promise.all([
      selectShopper(sql, userId),
      ...sections.map((section) => section.read(sql, userId)),
    ]);
    if (!shopper) throw identityErrors.account_gone();
    const { id, nickname, avatar } = shopper;
    const points = values[sections.findIndex(({ field }) => field === 'points')] ?? 0;
    const status = shopper.status === 1 ? (1 as const) : (0 as const);
    const username = shopper.username ?? '';
    const created_at = iso(shopper.created_at);
    return { id, username, phone: maskedPhone(shopper.phone), nickname, avatar, points, status, created_at };
  };

  return [
    ...loginRoutes(runtime, tokens, messenger),
    ...staffRoutes(runtime, tokens, routes),
    defineRoute({
      method: 'GET',
      path: '/api/auth/profile',
      auth: 'any',
      tag: 'Accounts',
      summary: 'The account of the token',
      statements: 1 + sections.length,
      response: profileView,
      refuses: [identityErrors.account_gone],
      async handle({ caller }) {
        if (caller.role === 'admin') {
          const staff = await selectStaff(sql, caller.id);
          if (!staff) throw identityErrors.account_gone();
          const { id, username, status, role_name, permissions: perms } = staff;
          return { id, role: 'admin' as const, username, status, role_name, perms, created_at: iso(staff.created_at) };
        }
        const { username, ...profile } = await shopperProfile(caller.id);
        return { ...profile, username, role: 'user' as const };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/user/profile',
      auth: 'shopper',
      tag: 'Accounts',
      summary: 'My profile; the phone is masked',
      statements: 1 + sections.length,
      response: userProfileView,
      refuses: [identityErrors.account_gone],
      async handle({ caller }) {
        const { username: _username, ...profile } = await shopperProfile(caller.id);
        return profile;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/addresses',
      auth: 'shopper',
      tag: 'Addresses',
      summary: 'My addresses, the default address first',
      statements: 1,
      response: list(addressView, maxAddresses),
      handle: async ({ caller }) => (await selectAddresses(sql, caller.id)).map(addressViewOf),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/addresses',
      auth: 'shopper',
      tag: 'Addresses',
      summary: 'Add an address; the first address becomes the default',
      body: addressBody,
      statements: 3,
      response: addressView,
      refuses: [identityErrors.account_gone, identityErrors.too_many_addresses],
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
      statements: 3,
      response: addressView,
      refuses: [identityErrors.address_not_found],
      repeat: 'recorded',
      handle: ({ caller, params, body, write }) =>
        write(async (tx) => {
          const fields = { ...body, is_default: Boolean(body.is_default) };
          const address = await updateAddress(tx, caller.id, params.id, fields);
          if (!address) throw identityErrors.address_not_found();
          return addressViewOf(address);
        }),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/v1/addresses/:id',
      auth: 'shopper',
      tag: 'Addresses',
      summary: 'Remove an address; the newest of the other addresses becomes the default',
      params: idParams,
      statements: 3,
      response: nothing,
      refuses: [identityErrors.address_not_found],
      repeat: 'recorded',
      handle: ({ caller, params, write }) =>
        write(async (tx) => {
          if (!(await deleteAddress(tx, caller.id, params.id))) throw identityErrors.address_not_found();
          return null;
        }),
    }),
  ];
}
