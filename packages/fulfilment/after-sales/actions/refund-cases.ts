import { isWholeCents, type Minor, toMinor } from '@tradepost/core';
import { type RefundOutcome, refundAttempts, refundOrders } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { afterSaleErrors } from '../errors.ts';
import { notifyBuyers } from '../notices.ts';
import { type CaseRequest, type LockedCase, moveCases } from './move-cases.ts';

/** `amount` null stands for the amount of the case. A blank `refund_no` gets a number. */
export type RefundRequest = CaseRequest & {
  readonly amount: Minor | null;
  readonly reason: string;
  readonly refund_no: string;
};

/**
 * The amount of a request; null for 0 or less, which stands for the amount of the case. A part of a cent is refused and not rounded:
 * less than half a cent would become 0.
 */
export function requestedAmount(amount: number): Minor | null {
  if (!isWholeCents(amount)) throw afterSaleErrors.invalid_refund_amount();
  return amount > 0 ? toMinor(amount) : null;
}

/** `RF`, 13 digits of the time in milliseconds and 4 digits of the case id. A case is refunded once. */
const refundNumber = (caseId: number, at: Date) =>
  `RF${String(at.getTime()).padStart(13, '0')}${String(caseId % 10_000).padStart(4, '0')}`;

const refusals: Record<Exclude<RefundOutcome, true>, () => Error> = {
  not_paid: afterSaleErrors.invalid_refund_amount,
  exceeds_paid: afterSaleErrors.invalid_refund_amount,
  refund_no_taken: afterSaleErrors.refund_no_taken,
};

/**
 * Refunds cases through the payment of their orders, in the same transaction. All refunds of an order together are never
 * more than was paid. A case whose lines cost nothing is refunded without a payment.
 */
export async function refundCases(
  tx: Transaction,
  runtime: Pick<Runtime, 'settings' | 'config' | 'now'>,
  requests: readonly RefundRequest[],
): Promise<(LockedCase | Error)[]> {
  const now = runtime.now();
  const refunded: { found: LockedCase; amount: Minor }[] = [];
  const outcomes = await moveCases(tx, requests, {
    move: 'refund',
    now,
    decide(found, request) {
      const refund_amount = request.amount ?? found.refund_amount;
      const refund_no = request.refund_no || refundNumber(found.id, now);
      return {
        values: { refund_amount, refund_no },
        details: { amount: refund_amount, refund_no, reason: request.reason },
      };
    },
    async prepare(moving) {
      const rows = moving.map(({ found, effect }) => ({
        order_id: found.order_id,
        refund_no: effect.values!.refund_no!,
        amount: effect.values!.refund_amount!,
        reason: `after_sale:${found.id}`,
      }));
      const withMoney = rows.filter((row) => row.amount > 0);
      const results = await refundOrders(tx, withMoney, { now, attempts: runtime.settings.get(refundAttempts) });
      const resultOf = new Map(withMoney.map((row, index) => [row, results[index]!]));
      return rows.map((row, index) => {
        const result = resultOf.get(row) ?? true;
        if (result !== true) return refusals[result]();
        refunded.push({ found: moving[index]!.found, amount: row.amount });
        return true;
      });
    },
  });
  await notifyBuyers(tx, runtime, 'after_sale_refunded', refunded);
  return outcomes;
}
