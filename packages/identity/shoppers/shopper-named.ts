import type { Sql } from '@tradepost/postgres';
import { plainPhone } from '../messages/phone.ts';
import { selectShoppersByContact } from './contact-store.ts';
import { selectShopper, selectShopperByLogin } from './identity-store.ts';

const isMobile = (text: string) => /^1\d{10}$/.test(plainPhone(text));

/** Finds a shopper by id, phone number or user name, for commands. Throws for an unknown one. No shop has an id like a phone number. */
export async function shopperNamed({ sql }: { readonly sql: Sql }, given: string): Promise<number> {
  if (isMobile(given)) {
    const id = (await selectShoppersByContact(sql, { phones: [given], accounts: [] })).byPhone(given);
    if (id !== undefined) return id;
  }
  const shopper = /^\d{1,15}$/.test(given)
    ? await selectShopper(sql, Number(given))
    : await selectShopperByLogin(sql, given);
  if (!shopper)
    throw new Error(
      `there is no shopper ${given}: give the phone number, the user name or the id, which is user_id in their orders`,
    );
  return shopper.id;
}
