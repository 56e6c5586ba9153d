import type { Runtime } from '@tradepost/runtime';
import { webhookMetrics } from '../webhook-metrics.ts';
import type { Attempt, Claimed } from './delivery.ts';
import { type Outcome, releaseClaims } from './delivery-store.ts';
import { recordBatch } from './record-batch.ts';
import { maxAttempts, pauseAfter } from './retry-plan.ts';

type Deps = Pick<Runtime, 'sql' | 'settings' | 'metrics' | 'log' | 'now'>;

function outcomeOf(claim: Claimed, attempt: Attempt): Outcome {
  if (attempt.error === '') return { claim, attempt, status: 'delivered', due_at: null };
  const pause = pauseAfter(claim.attempts - claim.attempts_before, attempt.retryAfterMs);
  if (pause === null) return { claim, attempt, status: 'failed', due_at: null };
  const due = attempt.started_at.getTime() + attempt.duration_ms + pause;
  return { claim, attempt, status: 'waiting', due_at: new Date(due) };
}

/** Collects what has become of claims, until `store` writes it: one transaction for all that ended meanwhile. */
export function openOutcomes(runtime: Deps) {
  const { attempts, attemptSeconds } = webhookMetrics(runtime.metrics);
  let finished: Outcome[] = [];
  let released: Claimed[] = [];
  let wake = () => {};

  return {
    get pending() {
      return finished.length + released.length;
    },
    /** Null: the request was aborted, and does not count. */
    add(claim: Claimed, attempt: Attempt | null): void {
      if (attempt) {
        const outcome = outcomeOf(claim, attempt);
        finished.push(outcome);
        attempts.inc({ result: outcome.status === 'waiting' ? 'retry' : outcome.status });
        attemptSeconds.observe(attempt.duration_ms / 1_000);
        if (outcome.status === 'failed')
          runtime.log.warn(
            { delivery: claim.id, endpoint: claim.endpoint_id, attempts: maxAttempts, reason: attempt.error },
            'a webhook delivery has failed after its last attempt',
          );
      } else released.push(claim);
      wake();
    },
    /** These claims are not used. */
    release(claims: readonly Claimed[]): void {
      released.push(...claims);
    },
    /** Writes what is pending. When the database fails, it is kept for the next call. */
    async store(): Promise<void> {
      const [outcomes, claims] = [finished, released];
      [finished, released] = [[], []];
      try {
        if (outcomes.length > 0) await recordBatch(runtime, outcomes);
        outcomes.length = 0;
        if (claims.length > 0) await releaseClaims(runtime.sql, claims, runtime.now());
      } catch (error) {
        finished.unshift(...outcomes);
        released.unshift(...claims);
        throw error;
      }
    },
    /** Waits until something is pending or the time is over. */
    next(ms: number): Promise<void> {
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (finished.length + released.length > 0) wake();
      });
    },
  };
}
export type Outcomes = ReturnType<typeof openOutcomes>;
