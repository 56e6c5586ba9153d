import { type Locale, labelOf } from '@tradepost/core';
import { type LineQuantity, type OrderSection, orderStatus, selectLineQuantities } from '@tradepost/orders';
import type { Runtime } from '@tradepost/runtime';
import { caseStatusLabels } from './cases/case-moves.ts';
import { type LineUse, linesOf, type OrderCases, selectOrderCases } from './cases/case-store.ts';

const closedToCases: readonly number[] = [orderStatus.pendingPayment, orderStatus.cancelled];

/** The orders whose buyers may apply: paid in this shop, and with a line that has pieces that were not refunded and no open case. */
function ordersToApplyFor(lines: readonly LineQuantity[], uses: ReadonlyMap<number, LineUse>): Set<number> {
  const open = lines.filter(({ id, qty, status, is_imported }) => {
    const { is_open = false, refunded = 0 } = uses.get(id) ?? {};
    return !closedToCases.includes(status) && !is_imported && !is_open && refunded < qty;
  });
  return new Set(open.map(({ order_id }) => order_id));
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
    // One reads the lines of the orders, one their cases.
    statements: 2,
    async load(orderIds, locale) {
      const [lines, cases] = await Promise.all([selectLineQuantities(sql, orderIds), selectOrderCases(sql, orderIds)]);
      const casesOf = new Map(cases.map((row) => [row.order_id, row]));
      const canApply = ordersToApplyFor(lines, linesOf(cases));
      return new Map(
        orderIds.map((id) => {
          const row = casesOf.get(id);
          const after_sale_summary = summaryOf(row, canApply.has(id), locale);
          return [id, { after_sale_summary, has_after_sale: row !== undefined }];
        }),
      );
    },
  };
}
