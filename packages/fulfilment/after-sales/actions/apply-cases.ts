import {
  heldRefusal,
  lockOrdersForAfterSale,
  markAfterSale,
  type OrderWithLines,
  orderStatus,
  type ShippingHold,
  selectHeldOrders,
} from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import { recordEvents } from '@tradepost/runtime';
import { type CaseFacts, caseApplied, itemFacts } from '../cases/case-events.ts';
import type { CaseType } from '../cases/case-moves.ts';
import { type LineUse, linesOf, selectOrderCases } from '../cases/case-store.ts';
import { insertCases, type NewCase, nextCaseIds } from '../cases/case-write-store.ts';
import { afterSaleErrors } from '../errors.ts';
import { isAccepted } from '../write-one.ts';
import { lineShare } from './line-amounts.ts';

export type Application = {
  readonly order_id: number;
  readonly user_id: number;
  readonly case_type: CaseType;
  readonly reason: string;
  readonly apply_content: string;
  readonly apply_images: readonly string[];
  readonly items: readonly { readonly order_item_id: number; readonly qty: number }[];
};

/** `AS`, 13 digits of the time in milliseconds and 4 digits of the case id. */
const caseNumber = (id: number, at: Date) =>
  `AS${String(at.getTime()).padStart(13, '0')}${String(id % 10_000).padStart(4, '0')}`;

/** The quantities by line. Lines without pieces are left out, and a line that is named twice counts with both quantities. */
function quantitiesOf(items: Application['items']): Map<number, number> {
  const byLine = new Map<number, number>();
  for (const { order_item_id, qty } of items)
    if (qty > 0) byLine.set(order_item_id, (byLine.get(order_item_id) ?? 0) + qty);
  return byLine;
}

/** The refusal of an application that needs no order to be refused. */
function formRefusal({ reason, items }: Application): Error | null {
  if (reason === '') return afterSaleErrors.reason_required();
  if (items.length === 0) return afterSaleErrors.products_required();
  return null;
}

function orderRefusal(order: OrderWithLines | undefined, userId: number): Error | null {
  // The order of another shopper is answered as a missing one.
  if (!order || order.user_id !== userId) return afterSaleErrors.order_not_found();
  if (order.status === orderStatus.pendingPayment) return afterSaleErrors.order_not_paid();
  if (order.status === orderStatus.cancelled) return afterSaleErrors.order_cancelled();
  if (order.is_imported) return afterSaleErrors.order_imported();
  return null;
}

type Decided = Omit<NewCase, 'id' | 'case_no'>;

/** Decides one application. `uses` are the lines of all orders that cases name, by line. */
function decide(
  application: Application,
  order: OrderWithLines | undefined,
  uses: ReadonlyMap<number, LineUse>,
): Decided | Error {
  const refusal = formRefusal(application) ?? orderRefusal(order, application.user_id);
  if (refusal || !order) return refusal ?? afterSaleErrors.order_not_found();
  const quantities = quantitiesOf(application.items);
  if (quantities.size === 0) return afterSaleErrors.no_valid_products();
  const lines = new Map(order.items.map((line) => [line.id, line]));
  let share = 0;
  for (const [lineId, qty] of quantities) {
    const line = lines.get(lineId);
    if (!line) return afterSaleErrors.item_not_found();
    const { is_open = false, refunded = 0 } = uses.get(lineId) ?? {};
    if (is_open) return afterSaleErrors.open_case_exists();
    if (qty > line.qty - refunded) return afterSaleErrors.quantity_exceeded();
    share += lineShare(line, refunded, qty);
  }
  const { reason, apply_content, apply_images, case_type } = application;
  return {
    order_id: order.id,
    user_id: order.user_id,
    merchant_id: order.merchant_id,
    order_status_snapshot: order.status,
    ...{ case_type, reason, apply_content, apply_images: [...apply_images] },
    refund_amount: case_type === 'return' ? share : 0,
    items: [...quantities].map(([order_item_id, qty]) => ({ order_item_id, qty })),
  };
}

/**
 * Opens after-sale cases, and moves their orders to 5, after-sale. The orders are locked first, so concurrent applications
 * for one line see each other. An order that is held from shipping is refused. When two applications name one line, the first one counts. Returns for each application the
 * id of its case or its refusal.
 */
export async function applyCases(
  tx: Transaction,
  applications: readonly Application[],
  { holds, now }: { holds: readonly ShippingHold[]; now: Date },
): Promise<(number | Error)[]> {
  const orderIds = [...new Set(applications.map((application) => application.order_id))];
  const orders = new Map((await lockOrdersForAfterSale(tx, orderIds)).map((order) => [order.id, order]));
  const held = new Map((await selectHeldOrders(tx, holds, orderIds)).map((one) => [one.order_id, one.refusal]));
  const uses = linesOf(await selectOrderCases(tx, orderIds));
  const decided = applications.map((application) => {
    const order = orders.get(application.order_id);
    const wanted = decide(application, order, uses);
    // Only the shopper of an order learns that it is held.
    const outcome = isAccepted(wanted) ? (heldRefusal(holds, held.get(application.order_id)) ?? wanted) : wanted;
    if (outcome instanceof Error || !order) return outcome;
    for (const { order_item_id } of outcome.items)
      uses.set(order_item_id, { order_item_id, refunded: 0, is_open: true });
    orders.set(order.id, { ...order, status: orderStatus.afterSale });
    return outcome;
  });
  const accepted = decided.filter(isAccepted);
  if (accepted.length === 0) return decided as Error[];
  const ids = await nextCaseIds(tx, accepted.length);
  const cases = accepted.map((row, index) => ({ ...row, id: ids[index]!, case_no: caseNumber(ids[index]!, now) }));
  await Promise.all([insertCases(tx, cases, now), recordEvents(tx, caseApplied, factsOf(cases, orders), now)]);
  await openAfterSale(tx, cases, now);
  const idOf = new Map(accepted.map((row, index) => [row, ids[index]!]));
  return decided.map((outcome) => (outcome instanceof Error ? outcome : idOf.get(outcome)!));
}

const factsOf = (cases: readonly NewCase[], orders: ReadonlyMap<number, OrderWithLines>): CaseFacts[] =>
  cases.map(({ id, case_no, case_type, order_id, user_id, refund_amount, items }) => {
    const order = orders.get(order_id)!;
    const facts = { case_id: id, case_no, case_type, order_id, order_no: order.order_no, user_id, refund_amount };
    return { ...facts, operator: 'user', items: itemFacts(order, items) };
  });

/** Moves the orders of these new cases to 5, after-sale. An order that is there already stays. */
async function openAfterSale(tx: Transaction, cases: readonly NewCase[], now: Date): Promise<void> {
  const first = cases.filter((row) => row.order_status_snapshot !== orderStatus.afterSale);
  for (const userId of new Set(first.map((row) => row.user_id))) {
    const orderIds = first.filter((row) => row.user_id === userId).map((row) => row.order_id);
    await markAfterSale(tx, orderIds, { actor: { type: 'user', id: userId }, now });
  }
}
