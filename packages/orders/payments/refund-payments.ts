import { enqueueJobs, type Job, type Log, type Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { asError, orderErrors } from '../errors.ts';
import { refundAttempts } from '../settings.ts';
import { closeIdlePayments } from './payment-store.ts';
import type { PaymentProviders } from './providers/open-providers.ts';
import type { RefundAnswer } from './providers/provider.ts';
import {
  beginRefund,
  finishRefund,
  type OpenRefund,
  recordRefundError,
  reopenRefund,
  selectForgottenRefunds,
} from './refund-store.ts';

export const refundTask = 'payments.refund';
export const paymentSweepTask = 'payments.sweep';
const sweepBatch = 500;
const forgottenMs = 5 * 60_000;

/** The job of one refund: at most one waits at a time. */
export const refundJob = (refundNo: string, maxAttempts: number): Job => ({
  task: refundTask,
  payload: { refund_no: refundNo },
  key: `${refundTask}:${refundNo}`,
  maxAttempts,
});

const payload = z.object({ refund_no: z.string() });
type Deps = { runtime: Pick<Runtime, 'sql' | 'now' | 'settings'>; providers: PaymentProviders };
type Context = { log: Log; signal: AbortSignal };

async function ask({ providers }: Deps, refund: OpenRefund, signal: AbortSignal): Promise<RefundAnswer> {
  const provider = providers.get(refund.provider);
  if (provider?.kind !== 'redirect') return { status: 'failed', reason: `${refund.provider} can not pay back` };
  const { refund_no, payment_no, trade_no, amount, currency, reason } = refund;
  return provider.refund({ refund_no, payment_no, trade_no, amount, currency, reason }, signal);
}

/**
 * Pays one payment back. Safe to run twice: the provider knows the refund by its number, and only an open one is recorded.
 * While the outcome is not known the job fails, and is tried again; after the last attempt the refund is `failed`.
 */
export async function refundPayment(deps: Deps, given: unknown, { log, signal }: Context): Promise<void> {
  const { sql, now, settings } = deps.runtime;
  const { refund_no } = payload.parse(given);
  const refund = await beginRefund(sql, refund_no, now());
  if (!refund) return;
  let answer: RefundAnswer;
  try {
    answer = await ask(deps, refund, signal);
  } catch (error) {
    const final = refund.attempts >= settings.get(refundAttempts) && !signal.aborted;
    const { cause, message } = asError(error);
    const reason = cause instanceof Error ? cause.message : message;
    await recordRefundError(sql, refund_no, reason.slice(0, 500), final, now());
    if (!final) throw error;
    log.error({ err: error, refund_no, attempts: refund.attempts }, 'a refund was given up: money is owed');
    return;
  }
  if (answer.status === 'succeeded') return finishRefund(sql, refund_no, answer.provider_ref, now());
  await recordRefundError(sql, refund_no, answer.reason.slice(0, 500), true, now());
  log.error({ refund_no, reason: answer.reason }, 'a refund was refused by the provider: money is owed');
}

/** The net: refunds whose job is gone, open payments of closed orders, nonces too old to come again. */
export async function sweepPayments({ runtime }: Pick<Deps, 'runtime'>, { log }: Context): Promise<void> {
  const { sql, now, settings } = runtime;
  const forgotten = await selectForgottenRefunds(sql, new Date(now().getTime() - forgottenMs), sweepBatch);
  if (forgotten.length > 0) {
    const attempts = settings.get(refundAttempts);
    await sql.begin(async (tx) => {
      await enqueueJobs(
        tx,
        forgotten.map((refundNo) => refundJob(refundNo, attempts)),
      );
    });
    log.warn({ refunds: forgotten.length }, 'refunds without a job: enqueued again');
  }
  await closeIdlePayments(sql, now(), sweepBatch);
}

/** An operator's word that a failed refund shall be tried again. */
export async function retryRefund(runtime: Pick<Runtime, 'sql' | 'now' | 'settings'>, refundNo: string): Promise<void> {
  await runtime.sql.begin(async (tx) => {
    if (!(await reopenRefund(tx, refundNo, runtime.now()))) throw orderErrors.refund_not_found();
    await enqueueJobs(tx, [refundJob(refundNo, runtime.settings.get(refundAttempts))]);
  });
}
