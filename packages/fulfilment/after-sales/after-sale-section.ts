import { type Locale, labelOf } from '@tradepost/core';
import { type OrderSection, type OrderWithLines, orderStatus, selectOrderLines } from '@tradepost/orders';
import type { Runtime } from '@tradepost/runtime';
import { caseStatusLabels } from './cases/case-moves.ts';
import { type LineUse, linesOf, type OrderCases, selectOrderCases } from './cases/case-store.ts';

const closedToCases: readonly number[] = [orderStatus.pendingPayment, orderStatus.cancelled];

/** Whether the buyer may apply: the order was paid, and a line has pieces that were not refunded and no open case. */
function canApply(order: OrderWithLines, uses: ReadonlyMap<number, LineUse>): boolean {
  if (closedToCases.includes(order.status)) return false;
  return order.items.some(({ id, qty }) => {
    const { is_open = false, refunded = 0 } = uses.get(id) ?? {};
    return !is_open && refunded < qty;
  });
}

function summaryOf(cases: OrderCases | undefined, can_apply: boolean, locale: Locale) {
  return {
    in_progress_count: cases?.in_progress_count ?? 0,
    has_open_case: (cases?.in_progress_count ?? 0) > 0,
    latest_case_id: cases?.latest_case_id ?? 0,
    latest_status: cases?.latest_status ?? '',
    latest_status_label: cases ? labelOf(caseStatusLabels, cases.latest_status, locale) : '',
    can_apply,
  };
}

/** Adds the summary of the after-sale cases of an order. */
export function afterSaleSection({ sql }: Pick<Runtime, 'sql'>): OrderSection {
  return {
    // One reads the orders with their lines, one their cases.
    statements: 2,
    async load(orderIds, locale) {
      const [orders, cases] = await Promise.all([selectOrderLines(sql, orderIds), selectOrderCases(sql, orderIds)]);
      const casesOf = new Map(cases.map((row) => [row.order_id, row]));
      const lines = linesOf(cases);
      return new Map(
        orders.map((order) => {
          const row = casesOf.get(order.id);
          const after_sale_summary = summaryOf(row, canApply(order, lines), locale);
          return [order.id, { after_sale_summary, has_after_sale: row !== undefined }];
        }),
      );
    },
  };
}
