import { shopperDeleted } from '@tradepost/identity';
import type { Transaction } from '@tradepost/postgres';
import type { EventReader } from '@tradepost/runtime';
import { maxSearch } from './imported-rows.ts';

/** Removes name, user name and phone of these shoppers from their imported orders, and from what the search of staff finds. */
async function forgetShoppers(tx: Transaction, shopperIds: readonly number[]): Promise<void> {
  await tx`
    update orders.imported_orders m
    set nickname = '', shopper_account = '', shopper_phone = '',
        search = left(lower(concat_ws(E'\n', o.order_no, o.address_snapshot ->> 'name', o.address_snapshot ->> 'phone', (
          select string_agg(i.title, E'\n' order by i.id) from orders.order_items i where i.order_id = o.id))), ${maxSearch})
    from orders.orders o
    where o.id = m.order_id and o.user_id = any(${[...shopperIds]}::bigint[])`;
}

/** Orders keep their receiver when an account is deleted, but nothing else about the shopper. */
export const forgetShoppersReader: EventReader = {
  name: 'orders.forget_shoppers',
  kinds: [shopperDeleted.name],
  read: (tx, events) =>
    forgetShoppers(
      tx,
      events.map(({ data }) => shopperDeleted.data.parse(data).user_id),
    ),
};
