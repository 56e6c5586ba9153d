import type { Sql } from '@tradepost/postgres';
import { selectShopper, selectShopperByLogin } from './identity-store.ts';

/** Finds a shopper by id or user name, for commands. Throws for an unknown one. */
export async function shopperNamed({ sql }: { readonly sql: Sql }, given: string): Promise<number> {
  const shopper = /^\d{1,15}$/.test(given)
    ? await selectShopper(sql, Number(given))
    : await selectShopperByLogin(sql, given);
  if (!shopper) throw new Error(`there is no shopper ${given}`);
  return shopper.id;
}
