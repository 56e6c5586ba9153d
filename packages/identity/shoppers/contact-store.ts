import type { Queryable } from '@tradepost/postgres';
import { plainPhone } from '../messages/phone.ts';

/** Who a shopper is, for files of orders. A value that is not set is empty. */
export type Contact = { nickname: string; account: string; phone: string };

/** The contacts of these shoppers. A deleted account has its name only. */
export async function selectContacts(sql: Queryable, ids: readonly number[]): Promise<Map<number, Contact>> {
  const rows = await sql<(Contact & { id: number })[]>`
    select id, nickname, coalesce(username, '') as account,
           case when deleted_at is null then coalesce(phone, '') else '' end as phone
    from identity.shoppers where id = any(${[...ids]}::bigint[])`;
  return new Map(rows.map(({ id, ...contact }) => [id, contact]));
}

/** The accounts with these phones and user names, without deleted ones. `phones` may have blanks, dashes and the prefix of China. */
export async function selectShoppersByContact(
  sql: Queryable,
  { phones, accounts }: { phones: readonly string[]; accounts: readonly string[] },
): Promise<{ byPhone(phone: string): number | undefined; byAccount(account: string): number | undefined }> {
  const rows = await sql<{ id: number; username: string | null; phone: string | null }[]>`
    select id, username, phone from identity.shoppers
    where deleted_at is null
      and (phone = any(${phones.map(plainPhone)}::text[]) or username = any(${[...accounts]}::text[]))`;
  const phoneIds = new Map(rows.map((row) => [row.phone, row.id]));
  const accountIds = new Map(rows.map((row) => [row.username, row.id]));
  return {
    byPhone: (phone) => (phone === '' ? undefined : phoneIds.get(plainPhone(phone))),
    byAccount: (account) => (account === '' ? undefined : accountIds.get(account)),
  };
}
