import { allocate, type Minor, maxMinor, toMinor } from '@tradepost/core';
import { orderErrors } from '../../errors.ts';
import type { Order, OrderItem } from '../../orders/order.ts';

/** New unit prices of some lines, or a change of what the whole order costs its buyer. */
export type PriceChange =
  | { items: readonly { item_id: number; price: Minor }[] }
  | { percent: number }
  | { amount: Minor };

type Amounts = Pick<Order, 'goods_amount' | 'discount_amount' | 'freight_amount' | 'total_amount'>;
/** `agreed_discount`: the one the order was placed with, without cents that a change before this one could not say in prices. */
type Priced = Pick<Order, 'id' | 'freight_amount' | 'total_amount'> & { agreed_discount: Minor };
type Line = Pick<OrderItem, 'id' | 'price' | 'qty'>;
export type NewAmounts = Amounts & { lines: { id: number; price: Minor; payable_amount: Minor }[] };

/** total x (1 + percent/100), exact, half a cent up; a percentage has two decimals. */
function scaled(total: Minor, percent: number): Minor {
  const factor = 10_000n + BigInt(toMinor(percent));
  return Number((BigInt(total) * factor * 2n + 10_000n) / 20_000n);
}

function pricesOf(
  order: Pick<Order, 'id'>,
  lines: readonly Line[],
  items: readonly { item_id: number; price: Minor }[],
) {
  const prices = new Map(items.map((item) => [item.item_id, item.price]));
  if (prices.size < items.length) throw orderErrors.repriced_twice();
  const own = new Set(lines.map((line) => line.id));
  const foreign = [...prices.keys()].filter((id) => !own.has(id));
  if (foreign.length > 0) throw orderErrors.foreign_items({ id: order.id, items: foreign.join(', ') });
  return lines.map((line) => prices.get(line.id) ?? line.price);
}

/**
 * Unit prices with which the goods cost `goods` or a few cents more: of three pieces nobody can make a third of 10.00. The
 * cents too many are for the caller to take off.
 */
function pricesFor(goods: Minor, lines: readonly Line[]): Minor[] {
  const shares = allocate(
    goods,
    lines.map((line) => line.price * line.qty),
  );
  return lines.map((line, index) => Math.ceil(shares[index]! / line.qty));
}

/**
 * The order's amounts after the change. The discount stays what was agreed, but never above the goods, and is spread over the
 * lines anew. A total of the caller's choice is met to the cent: what unit prices can not say goes into the discount.
 * Throws the refusal.
 */
export function repricedAmounts(order: Priced, lines: readonly Line[], change: PriceChange): NewAmounts {
  const { freight_amount, agreed_discount } = order;
  let prices: Minor[];
  let wanted: Minor | null = null;
  if ('items' in change) prices = pricesOf(order, lines, change.items);
  else {
    wanted = 'percent' in change ? scaled(order.total_amount, change.percent) : order.total_amount + change.amount;
    // Freight is not the lines' to reduce.
    if (wanted <= 0 || wanted < freight_amount) throw orderErrors.price_too_low();
    if (wanted > maxMinor) throw orderErrors.amount_too_large();
    prices = pricesFor(wanted - freight_amount + agreed_discount, lines);
  }
  const gross = lines.map((line, index) => prices[index]! * line.qty);
  const goods_amount = gross.reduce((sum, value) => sum + value, 0);
  if (goods_amount > maxMinor) throw orderErrors.amount_too_large();
  const discount_amount =
    wanted === null ? Math.min(agreed_discount, goods_amount) : goods_amount + freight_amount - wanted;
  const total_amount = goods_amount - discount_amount + freight_amount;
  if (total_amount <= 0) throw orderErrors.price_too_low();
  const shares = allocate(goods_amount - discount_amount, gross);
  return {
    goods_amount,
    discount_amount,
    freight_amount,
    total_amount,
    lines: lines.map((line, index) => ({ id: line.id, price: prices[index]!, payable_amount: shares[index]! })),
  };
}
