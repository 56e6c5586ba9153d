import type { Queryable } from '@tradepost/runtime';

export type ShopperMatch = { user_id: number; by: 'nickname' | 'receiver' };

/**
 * Shoppers whose nickname holds the text, and those who have, or had, an address whose receiver's name or phone does. At
 * most `limit` of each.
 */
export async function selectShoppersByText(sql: Queryable, text: string, limit: number): Promise<ShopperMatch[]> {
  const part = text.toLowerCase();
  return sql<ShopperMatch[]>`
    (select id as user_id, 'nickname' as by from identity.shoppers
     where runtime.grams(nickname) @> runtime.grams_sought(${part}) and position(${part} in lower(nickname)) > 0
     limit ${limit})
    union all
    (select distinct user_id, 'receiver' from (
       (select user_id from identity.addresses
        where runtime.grams(name || ' ' || phone) @> runtime.grams_sought(${part})
          and (position(${part} in lower(name)) > 0 or position(${part} in phone) > 0)
        limit ${limit})
       union all
       (select user_id from identity.former_receivers
        where runtime.grams(name || ' ' || phone) @> runtime.grams_sought(${part})
          and (position(${part} in lower(name)) > 0 or position(${part} in phone) > 0)
        limit ${limit})) as receivers)`;
}
