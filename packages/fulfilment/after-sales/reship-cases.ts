import type { Inventory } from '@tradepost/inventory';
import type { Transaction } from '@tradepost/postgres';
import { stockOf } from './actions/case-stock.ts';
import { moveCases } from './actions/move-cases.ts';
import { afterSaleErrors } from './errors.ts';

/** The re-shipment of an exchange. `company` and `tracking_no` are shown in the log of the case. */
export type Reship = {
  readonly case_id: number;
  readonly order_id: number;
  readonly staff_id: number;
  readonly company?: string;
  readonly tracking_no?: string;
};

const refusals = {
  insufficient_stock: afterSaleErrors.replacement_out_of_stock,
  sku_not_found: afterSaleErrors.replacement_not_found,
};

/** The refusals that `reshipCases` returns, for the routes that call it. */
export const reshipRefusals = [
  afterSaleErrors.case_mismatch,
  afterSaleErrors.cannot_reship,
  afterSaleErrors.replacement_out_of_stock,
  afterSaleErrors.replacement_not_found,
] as const;

/**
 * Moves exchanges from reship_pending to reshipped, with their logs, and takes the replacements out of stock. The caller
 * inserts the shipments in the same transaction. When two requests name one case, the first one counts. Returns for each
 * request true or its refusal.
 */
export async function reshipCases(
  tx: Transaction,
  rows: readonly Reship[],
  now: Date,
  inventory: Pick<Inventory, 'deduct'>,
): Promise<(true | Error)[]> {
  const requests = rows.map(({ staff_id, ...row }) => ({ ...row, operator: { type: 'admin', id: staff_id } as const }));
  const outcomes = await moveCases(tx, requests, {
    move: 'reship',
    now,
    // A case that does not exist belongs to no order.
    find: (found, { order_id }) => (found?.order_id === order_id ? found : afterSaleErrors.case_mismatch()),
    decide: (_found, { company = '', tracking_no = '' }) => ({ details: { company, tracking_no } }),
    async prepare(moving) {
      const deducted = await inventory.deduct(
        tx,
        moving.map(({ found }) => stockOf(found)),
      );
      return deducted.map((outcome) => (outcome === true ? true : refusals[outcome]()));
    },
  });
  return outcomes.map((outcome) => (outcome instanceof Error ? outcome : true));
}
