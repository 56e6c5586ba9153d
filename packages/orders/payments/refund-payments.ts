import { enqueueJobs, type Job, type Log, type Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { asError, orderErrors } from '../errors.ts';
import { refundAttempts } from '../settings.ts';
import { closeIdlePayments } from './payment-store.ts';
import { checkJob } from './provider-calls/check-payment.ts';
import type { PaymentProviders } from './providers/open-providers.ts';
import type { RefundAnswer } from './providers/provider.ts';
import {
  beginRefund,
  finishRefund,
  type OpenRefund,
  recordAcceptedRefund,
  recordRefundError,
  reopenRefund,
  selectRefundsWithoutJob,
} from './refund-store.ts';

export const refundTask = 'payments.refund';
export const paymentSweepTask = 'payments.sweep';
const sweepBatch = 500;
/** A pending refund that has no job for this time gets a new one. */
const withoutJobMs = 5 * 60_000;

/** A provider that carries out a refund is asked about it this often, when no notice arrives. */
const acceptedCheckMs = 60 * 60_000;

/** The job of one refund. Its key allows one queued job per refund. */
export const refundJob = (refundNo: string, maxAttempts: number): Job => ({
  task: refundTask,
  payload: { refund_no: refundNo },
  key: `${refundTask}:${refundNo}`,
  maxAttempts,
});

const payload = z.object({ refund_no: z.string() });
type Deps = { runtime: Pick<Runtime, 'sql' | 'now' | 'settings'>; providers: PaymentProviders };
type Context = { log: Log; signal: AbortSignal };

async function requestRefund({ providers }: Deps, refund: OpenRefund, signal: AbortSignal): Promise<RefundAnswer> {
  const provider = providers.get(refund.provider);
  if (provider?.kind !== 'redirect') return { status: 'failed', reason: `${refund.provider} can not refund` };
  const { provider: _name, attempts: _attempts, ...request } = refund;
  return provider.refund(request, signal);
}

/**
 * Refunds one payment. It is safe to run twice: the refund number is the idempotency key of the provider, and only an open
 * refund is recorded. When the outcome is unknown, the job fails and is retried. After the last attempt the refund is `failed`.
 */
export async function refundPayment(deps: Deps, given: unknown, { log, signal }: Context): Promise<void> {
  const { sql, now, settings } = deps.runtime;
  const { refund_no } = payload.parse(given);
  const refund = await beginRefund(sql, refund_no, now());
  if (!refund) return;
  let answer: RefundAnswer;
  try {
    answer = await requestRefund(deps, refund, signal);
  } catch (error) {
    const final = refund.attempts >= settings.get(refundAttempts) && !signal.aborted;
    const { cause, message } = asError(error);
    const reason = cause instanceof Error ? cause.message : message;
    await recordRefundError(sql, refund_no, reason.slice(0, 500), final, now());
    if (!final) throw error;
    log.error(
      { err: error, refund_no, attempts: refund.attempts },
      'a refund has failed after its last attempt; the money is owed',
    );
    return;
  }
  if (answer.status === 'pending') {
    const checkAt = new Date(now().getTime() + acceptedCheckMs);
    return recordAcceptedRefund(sql, refund_no, { provider_ref: answer.provider_ref, checkAt }, now());
  }
  if (answer.status === 'succeeded') return finishRefund(sql, refund_no, answer.provider_ref, now());
  await recordRefundError(sql, refund_no, answer.reason.slice(0, 500), true, now());
  log.error({ refund_no, reason: answer.reason }, 'the provider refused a refund; the money is owed');
}

/** Enqueues jobs for refunds whose job was lost, and closes open payments of orders that are not pending payment. */
export async function sweepPayments({ runtime }: Pick<Deps, 'runtime'>, { log }: Context): Promise<void> {
  const { sql, now, settings } = runtime;
  const at = now();
  const before = new Date(at.getTime() - withoutJobMs);
  const withoutJob = await selectRefundsWithoutJob(sql, { before, now: at }, sweepBatch);
  if (withoutJob.length > 0) {
    const attempts = settings.get(refundAttempts);
    await sql.begin(async (tx) => {
      await enqueueJobs(
        tx,
        withoutJob.map((refundNo) => refundJob(refundNo, attempts)),
      );
    });
    log.warn({ refunds: withoutJob.length }, 'enqueued new jobs for refunds without a job');
  }
  await sql.begin(async (tx) => {
    const begun = await closeIdlePayments(tx, at, sweepBatch);
    if (begun.length > 0) await enqueueJobs(tx, begun.map(checkJob));
  });
}

/** Enqueues a failed refund again, under the same number. */
export async function retryRefund(runtime: Pick<Runtime, 'sql' | 'now' | 'settings'>, refundNo: string): Promise<void> {
  await runtime.sql.begin(async (tx) => {
    if (!(await reopenRefund(tx, refundNo, runtime.now()))) throw orderErrors.refund_not_found();
    await enqueueJobs(tx, [refundJob(refundNo, runtime.settings.get(refundAttempts))]);
  });
}
