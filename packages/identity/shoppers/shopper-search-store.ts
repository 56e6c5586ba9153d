import type { Queryable, Statement } from '@tradepost/postgres';

/*
 * Who orders are searched by, as conditions on text and as relations of user ids. `runtime.grams` is indexed: the few rows that
 * have all pairs of characters of the text are looked at. The text is lower-cased.
 */

/** Shoppers whose nickname holds the text: a relation with the column user_id. */
export const shoppersByNickname = (sql: Queryable, text: string): Statement => sql`
  (select id as user_id from identity.shoppers
   where runtime.grams(nickname) @> runtime.grams_sought(${text}) and position(${text} in lower(nickname)) > 0)`;

/**
 * Shoppers who have, or had, an address whose receiver's name or phone holds the text: a relation with the column user_id, in
 * which one may stand several times. Whoever reads only a part of it need not wait for the rest.
 */
export const shoppersByReceiver = (sql: Queryable, text: string): Statement => sql`
  (select user_id from identity.addresses
   where runtime.grams(name || ' ' || phone) @> runtime.grams_sought(${text})
     and (position(${text} in lower(name)) > 0 or position(${text} in phone) > 0)
   union all
   select user_id from identity.former_receivers
   where runtime.grams(name || ' ' || phone) @> runtime.grams_sought(${text})
     and (position(${text} in lower(name)) > 0 or position(${text} in phone) > 0))`;

/** Whether the nickname of this shopper holds the text: a condition; not `exists`, which would be asked of all at once. */
export const nicknameHolds = (sql: Queryable, userId: Statement, text: string): Statement => sql`
  (select position(${text} in lower(s.nickname)) > 0 from identity.shoppers s where s.id = ${userId})`;
