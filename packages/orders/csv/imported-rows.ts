import { selectShoppersByContact } from '@tradepost/identity';
import type { Transaction } from '@tradepost/postgres';
import { orderStatus } from '../orders/order-status.ts';
import {
  type FoundSku,
  type ImportedItem,
  type ImportedMove,
  type ImportedOrder,
  selectSkusByCode,
} from './import-store.ts';
import type { OrderRecord } from './order-record.ts';
import { specsOf } from './specs.ts';

/** How the shoppers of a file are found: by the phone of their account, or also by their user name. */
export type MatchShoppers = 'phone' | 'account';
type Numbered = { id: number; record: OrderRecord };

const { pendingPayment, paid } = orderStatus;
/** The characters of an order that the search by keyword finds. */
export const maxSearch = 4_000;

/** The history of an imported order. When it ended is not known, so the last move has the last time that is known. */
function movesOf({ id, record }: Numbered): ImportedMove[] {
  const { created_at, paid_at, status } = record;
  const move = (from: number | null, to: number, trigger: ImportedMove['trigger'], at: Date): ImportedMove => ({
    ...{ order_id: id, from_status: from, to_status: to, trigger, created_at: at },
  });
  return [
    move(null, pendingPayment, 'create', created_at),
    ...(paid_at ? [move(pendingPayment, paid, 'pay', paid_at)] : []),
    move(paid_at ? paid : pendingPayment, status, 'import', paid_at ?? created_at),
  ];
}

function searchOf({ order_no, shopper, receiver, items }: OrderRecord): string {
  const { nickname, account, phone } = shopper;
  const texts = [order_no, nickname, account, phone, receiver.name, receiver.phone, ...items.map(({ title }) => title)];
  return [...new Set(texts.filter(Boolean))].join('\n').toLowerCase().slice(0, maxSearch).toWellFormed();
}

function orderRow({ id, record }: Numbered, user_id: number): ImportedOrder {
  const { shopper, receiver, items: _items, order_id: _id, status, ...order } = record;
  return {
    ...order,
    ...{ id, user_id, merchant_id: 1, status: status as ImportedOrder['status'], inventory_status: 'none' },
    address_snapshot: { id: 0, user_id, ...receiver, is_default: 0 },
    updated_at: record.paid_at ?? record.created_at,
    ...{ nickname: shopper.nickname, shopper_account: shopper.account, shopper_phone: shopper.phone },
    search: searchOf(record),
  };
}

const itemRow = (order_id: number, item: OrderRecord['items'][number], sku: FoundSku | undefined): ImportedItem => ({
  ...{ order_id, product_id: sku?.product_id ?? 0, sku_id: sku?.id ?? 0, sku_code: item.sku_code },
  ...{ activity_title: item.activity, title: item.title, cover: sku?.cover ?? '', attrs: specsOf(item.specs) },
  ...{ price: item.price, qty: item.qty, payable_amount: item.payable_amount },
});

/**
 * The rows of these orders. A shopper is an existing account or 0, a SKU the only one with the code or 0. Accounts are never
 * created. Two statements.
 */
export async function planOrders(tx: Transaction, orders: readonly Numbered[], match: MatchShoppers) {
  const records = orders.map(({ record }) => record);
  const distinct = (texts: readonly string[]) => [...new Set(texts.filter(Boolean))];
  const [shoppers, skus] = await Promise.all([
    selectShoppersByContact(tx, {
      phones: distinct(records.map(({ shopper }) => shopper.phone)),
      accounts: match === 'account' ? distinct(records.map(({ shopper }) => shopper.account)) : [],
    }),
    selectSkusByCode(tx, distinct(records.flatMap(({ items }) => items.map((item) => item.sku_code.toLowerCase())))),
  ]);
  const userOf = ({ shopper: { phone, account } }: OrderRecord) =>
    shoppers.byPhone(phone) ?? (match === 'account' ? shoppers.byAccount(account) : undefined) ?? 0;
  return {
    orders: orders.map((order) => orderRow(order, userOf(order.record))),
    items: orders.flatMap(({ id, record }) =>
      record.items.map((item) => itemRow(id, item, skus.get(item.sku_code.toLowerCase()))),
    ),
    moves: orders.flatMap(movesOf),
  };
}
