import type { Queryable, Statement } from '@tradepost/postgres';

/*
 * Searches of shoppers for the search of orders, as SQL fragments. The index on `runtime.grams` finds the rows that have all
 * pairs of characters of the text; the text itself is compared in these rows. The caller passes the text in lower case.
 */

/** Shoppers whose nickname contains the text: a relation with the column user_id. */
export const shoppersByNickname = (sql: Queryable, text: string): Statement => sql`
  (select id as user_id from identity.shoppers
   where runtime.grams(nickname) @> runtime.grams_sought(${text}) and position(${text} in lower(nickname)) > 0)`;

/**
 * Shoppers with a present or former address whose receiver name or phone contains the text: a relation with the column
 * user_id. It may have a shopper several times; removing duplicates would make a query with a limit read all rows.
 */
export const shoppersByReceiver = (sql: Queryable, text: string): Statement => sql`
  (select user_id from identity.addresses
   where runtime.grams(name || ' ' || phone) @> runtime.grams_sought(${text})
     and (position(${text} in lower(name)) > 0 or position(${text} in phone) > 0)
   union all
   select user_id from identity.former_receivers
   where runtime.grams(name || ' ' || phone) @> runtime.grams_sought(${text})
     and (position(${text} in lower(name)) > 0 or position(${text} in phone) > 0))`;

/** The condition that the nickname of this shopper contains the text. With `exists` the planner would read all shoppers. */
export const nicknameHolds = (sql: Queryable, userId: Statement, text: string): Statement => sql`
  (select position(${text} in lower(s.nickname)) > 0 from identity.shoppers s where s.id = ${userId})`;
