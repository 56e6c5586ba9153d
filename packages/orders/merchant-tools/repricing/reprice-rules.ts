import { allocate, type Minor, maxMinor, toMinor } from '@tradepost/core';
import type { Discount } from '@tradepost/pricing';
import { orderErrors } from '../../errors.ts';
import { type Order, type OrderItem, repricing } from '../../orders/order.ts';

/** New unit prices of some lines, or a change of the total of the order. */
export type PriceChange =
  | { items: readonly { item_id: number; price: Minor }[] }
  | { percent: number }
  | { amount: Minor };

const sumOf = (amounts: readonly Minor[]): Minor => amounts.reduce((sum, amount) => sum + amount, 0);

type Amounts = Pick<Order, 'goods_amount' | 'discount_amount' | 'freight_amount' | 'total_amount'>;
/** `agreed_discount` is the discount at the time of the order, without the cents that an earlier change rounded into it. */
type Priced = Pick<Order, 'id' | 'freight_amount' | 'total_amount'> & { agreed_discount: Minor };
type Line = Pick<OrderItem, 'id' | 'price' | 'qty' | 'activity_product_id' | 'discounts'>;
export type NewAmounts = Amounts & { lines: { id: number; price: Minor; payable_amount: Minor }[] };

/** total x (1 + percent/100), exact, half a cent is rounded up. A percentage has two decimals. */
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
 * Unit prices with which the goods cost `goods` or a few cents more: three pieces cannot cost 10.00 exactly. The caller
 * subtracts the additional cents.
 */
function pricesFor(goods: Minor, lines: readonly Line[]): Minor[] {
  const shares = allocate(
    goods,
    lines.map((line) => line.price * line.qty),
  );
  return lines.map((line, index) => Math.ceil(shares[index]! / line.qty));
}

/**
 * The parts of a discount after the change: those of the order, in proportion when the discount is smaller now. What the change adds
 * is a part of its own. Null for no discount.
 */
export function repricedDiscounts(before: readonly Discount[] | null, discount: Minor): Discount[] | null {
  const agreed = (before ?? []).filter(({ type }) => type !== repricing);
  const amounts = agreed.map(({ amount }) => amount);
  const known = sumOf(amounts);
  const shares = known > discount ? allocate(discount, amounts) : amounts;
  const added = { type: repricing, name: '', amount: Math.max(discount - known, 0) };
  const parts = [...agreed.map((part, index) => ({ ...part, amount: shares[index]! })), added];
  const left = parts.filter(({ amount }) => amount > 0);
  return left.length > 0 ? left : null;
}

/**
 * What each line takes of the discount. A line keeps its own part of the agreed discount, up to what it costs now. The rest goes to
 * ordinary lines, because only these took discounts, and to lines of activities when the others can bear no more.
 */
function lineDiscounts(discount: Minor, lines: readonly Line[], gross: readonly Minor[]): Minor[] {
  const own = lines.map(({ discounts }) =>
    sumOf((discounts ?? []).filter(({ type }) => type !== repricing).map(({ amount }) => amount)),
  );
  const taken = own.map((amount, index) => Math.min(amount, gross[index]!));
  for (const takes of [(line: Line) => line.activity_product_id === 0, () => true]) {
    const room = lines.map((line, index) => (takes(line) ? gross[index]! - taken[index]! : 0));
    const rest = Math.min(discount - sumOf(taken), sumOf(room));
    allocate(rest, room).forEach((share, index) => {
      taken[index]! += share;
    });
  }
  return taken;
}

/**
 * The amounts of the order after the change. The agreed discount stays, but is never above the goods, and stays on its lines. A requested total is met to the cent: cents that unit prices cannot express are added to the discount.
 * Throws a refusal when the change is not possible.
 */
export function repricedAmounts(order: Priced, lines: readonly Line[], change: PriceChange): NewAmounts {
  const { freight_amount, agreed_discount } = order;
  let prices: Minor[];
  let newTotal: Minor | null = null;
  if ('items' in change) prices = pricesOf(order, lines, change.items);
  else {
    newTotal = 'percent' in change ? scaled(order.total_amount, change.percent) : order.total_amount + change.amount;
    // The change applies to the goods only, not to the freight.
    if (newTotal <= 0 || newTotal < freight_amount) throw orderErrors.price_too_low();
    if (newTotal > maxMinor) throw orderErrors.amount_too_large();
    prices = pricesFor(newTotal - freight_amount + agreed_discount, lines);
  }
  const gross = lines.map((line, index) => prices[index]! * line.qty);
  const goods_amount = sumOf(gross);
  if (goods_amount > maxMinor) throw orderErrors.amount_too_large();
  const discount_amount =
    newTotal === null ? Math.min(agreed_discount, goods_amount) : goods_amount + freight_amount - newTotal;
  const total_amount = goods_amount - discount_amount + freight_amount;
  if (total_amount <= 0) throw orderErrors.price_too_low();
  const discounts = lineDiscounts(discount_amount, lines, gross);
  return {
    goods_amount,
    discount_amount,
    freight_amount,
    total_amount,
    lines: lines.map(({ id }, index) => ({
      ...{ id, price: prices[index]! },
      payable_amount: gross[index]! - discounts[index]!,
    })),
  };
}
