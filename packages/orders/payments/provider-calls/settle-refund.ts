import type { Runtime } from '@tradepost/runtime';
import { orderErrors } from '../../errors.ts';
import type { RefundReport } from '../providers/provider.ts';
import { finishRefund, recordRefundError, selectRefundOf } from '../refund-store.ts';

/**
 * Processes the report of a provider about a refund. It may be repeated, and reports may arrive in any order: a refund that has
 * succeeded stays so. Throws a refusal when the amount is not that of the refund.
 */
export async function settleRefund(
  { sql, now, log }: Pick<Runtime, 'sql' | 'now' | 'log'>,
  provider: string,
  report: RefundReport,
): Promise<void> {
  const { refund_no, amount, currency, status, provider_ref, reason } = report;
  const refund = await selectRefundOf(sql, refund_no, provider);
  if (!refund) {
    // Refunded by hand in the console of the provider. A repeat of the notice would change nothing: reconciliation lists it.
    log.warn({ provider, refund_no, amount, currency }, 'a notice is about a refund that the shop did not request');
    return;
  }
  if (refund.amount !== amount || refund.currency !== currency) {
    log.error({ provider, refund_no, amount, currency }, 'the provider reports another amount of a refund');
    throw orderErrors.amount_mismatch();
  }
  if (status === 'succeeded') return finishRefund(sql, refund_no, provider_ref, now());
  if (refund.status === 'succeeded')
    log.error({ provider, refund_no, reason }, 'the provider reports that a refund failed which had succeeded');
  await recordRefundError(sql, refund_no, reason.slice(0, 500), true, now());
}
