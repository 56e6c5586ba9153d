import type { Queryable, Transaction } from '@tradepost/postgres';
import { identityErrors } from '../errors.ts';
import { maxAddresses } from '../limits.ts';

export type Address = {
  id: number;
  user_id: number;
  name: string;
  phone: string;
  province: string;
  city: string;
  district: string;
  detail: string;
  is_default: boolean;
  created_at: Date;
  updated_at: Date;
};
export type AddressFields = Omit<Address, 'id' | 'user_id' | 'created_at' | 'updated_at'>;

/** The addresses of a shopper: the default address first, then the newest. */
export async function selectAddresses(sql: Queryable, userId: number): Promise<Address[]> {
  return sql<Address[]>`
    select id, user_id, name, phone, province, city, district, detail, is_default, created_at, updated_at
    from identity.addresses where user_id = ${userId} order by is_default desc, id desc limit ${maxAddresses}`;
}

/** The addresses of these pairs of id and user. An address that is missing or belongs to another user is left out. */
export async function selectAddressesOf(
  sql: Queryable,
  ids: readonly number[],
  userIds: readonly number[],
): Promise<Address[]> {
  return sql<Address[]>`
    select a.id, a.user_id, a.name, a.phone, a.province, a.city, a.district, a.detail, a.is_default,
           a.created_at, a.updated_at
    from unnest(${[...ids]}::bigint[], ${[...userIds]}::bigint[]) as pair (id, user_id)
    join identity.addresses a on a.id = pair.id and a.user_id = pair.user_id`;
}

/** The default addresses of these shoppers, by shopper. A shopper without an address is absent. */
export async function selectDefaultAddresses(
  sql: Queryable,
  userIds: readonly number[],
): Promise<ReadonlyMap<number, Address>> {
  const rows = await sql<Address[]>`
    select id, user_id, name, phone, province, city, district, detail, is_default, created_at, updated_at
    from identity.addresses where user_id = any(${[...userIds]}::bigint[]) and is_default`;
  return new Map(rows.map((row) => [row.user_id, row]));
}

/** Locks the shopper, so that two requests cannot both set a default. Returns false when the account does not exist. */
async function lockShopper(tx: Queryable, userId: number): Promise<boolean> {
  const rows = await tx`select id from identity.shoppers where id = ${userId} and status = 1 for no key update`;
  return rows.length > 0;
}

/**
 * Adds an address. The first address becomes the default; a new default replaces the old one. Returns undefined when the
 * account does not exist. Refuses more than `maxAddresses`; the lock makes the count exact.
 */
export async function insertAddress(
  tx: Transaction,
  userId: number,
  fields: AddressFields,
): Promise<Address | undefined> {
  if (!(await lockShopper(tx, userId))) return undefined;
  if (fields.is_default)
    await tx`update identity.addresses set is_default = false where user_id = ${userId} and is_default`;
  const [row] = await tx<Address[]>`
    insert into identity.addresses (user_id, name, phone, province, city, district, detail, is_default)
    select ${userId}, ${fields.name}, ${fields.phone}, ${fields.province}, ${fields.city}, ${fields.district},
           ${fields.detail},
           ${fields.is_default} or not exists (select from identity.addresses where user_id = ${userId})
    where (select count(*) from identity.addresses where user_id = ${userId}) < ${maxAddresses}
    returning *`;
  if (!row) throw identityErrors.too_many_addresses({ max: maxAddresses });
  return row;
}

/** Replaces an address. A default address stays the default until another one is chosen. Undefined when it does not exist. */
export async function updateAddress(
  tx: Transaction,
  userId: number,
  id: number,
  fields: AddressFields,
): Promise<Address | undefined> {
  if (!(await lockShopper(tx, userId))) return undefined;
  if (fields.is_default)
    await tx`
        update identity.addresses set is_default = false
        where user_id = ${userId} and is_default and id <> ${id}
          and exists (select from identity.addresses where id = ${id} and user_id = ${userId})`;
  const [row] = await tx<Address[]>`
      update identity.addresses
      set name = ${fields.name}, phone = ${fields.phone}, province = ${fields.province}, city = ${fields.city},
          district = ${fields.district}, detail = ${fields.detail},
          is_default = is_default or ${fields.is_default}, updated_at = now()
      where id = ${id} and user_id = ${userId}
      returning *`;
  return row;
}

/** Removes an address. If it was the default, the newest other address becomes it. Returns false when it does not exist. */
export async function deleteAddress(tx: Transaction, userId: number, id: number): Promise<boolean> {
  if (!(await lockShopper(tx, userId))) return false;
  const [deleted] = await tx<{ is_default: boolean }[]>`
      delete from identity.addresses where id = ${id} and user_id = ${userId} returning is_default`;
  if (!deleted) return false;
  if (deleted.is_default)
    await tx`
        update identity.addresses set is_default = true
        where id = (select max(id) from identity.addresses where user_id = ${userId})`;
  return true;
}
