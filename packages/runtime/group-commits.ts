import { groupCommit, type Statement, type Transaction } from '@tradepost/postgres';
import type { Config } from './config/fields.ts';
import type { Claim, Idempotency } from './idempotency/idempotency.ts';
import type { Metrics } from './observability/metrics.ts';

/** Statements that keep the outcomes of a batch, to be sent in its transaction. */
export type RecordOutcomes<O> = (tx: Transaction, outcomes: readonly (O | Error)[]) => Statement[];
/** `record` is there when a call of the batch carries a key. */
type WriteMany<I, O> = (items: readonly I[], record?: RecordOutcomes<O>) => Promise<readonly (O | Error)[]>;
/** How an outcome survives JSON; needed where it holds more than JSON does. */
type GroupCommitOptions<O> = { revive?: (stored: never) => O };
/** With a claim the outcome is kept: a repeat whose first request died after its commit gets it instead of a second write. */
type GroupCommitted<I, O> = (item: I, claim?: Claim | null) => Promise<O>;

export type GroupCommits = {
  groupCommit<I, O>(useCase: string, writeMany: WriteMany<I, O>, options?: GroupCommitOptions<O>): GroupCommitted<I, O>;
  drain(): Promise<unknown>;
};

type Call<I> = { item: I; claim: Claim | null };

/** Answers what keeps the outcomes of these calls; undefined when no call carries a key. */
function recordOf<I, O>(idempotency: Idempotency, useCase: string, calls: readonly Call<I>[]) {
  if (!calls.some((call) => call.claim !== null)) return undefined;
  const record: RecordOutcomes<O> = (tx, outcomes) => {
    const done = calls.flatMap(({ claim }, index) => {
      const outcome = outcomes[index];
      return claim && !(outcome instanceof Error) ? [{ ...claim, outcome }] : [];
    });
    return idempotency.record(tx, useCase, done);
  };
  return record;
}

export function openGroupCommits(deps: { config: Config; metrics: Metrics; idempotency: Idempotency }): GroupCommits {
  const { config, metrics, idempotency } = deps;
  const batches: { drain(): Promise<void> }[] = [];
  return {
    groupCommit<I, O>(useCase: string, writeMany: WriteMany<I, O>, { revive }: GroupCommitOptions<O> = {}) {
      const sizes = metrics.batchSize.labels(useCase);
      const bounds = { maxBatch: config.batchMax, maxInFlight: config.batchesInFlight };
      const grouped = groupCommit<Call<I>, O>(
        (calls) =>
          writeMany(
            calls.map((call) => call.item),
            recordOf<I, O>(idempotency, useCase, calls),
          ),
        { ...bounds, onBatch: (size) => sizes.observe(size) },
      );
      batches.push(grouped);
      return (item: I, claim: Claim | null = null): Promise<O> => {
        if (!claim || !Object.hasOwn(claim.outcomes, useCase)) return grouped({ item, claim });
        const stored = claim.outcomes[useCase];
        return Promise.resolve(revive ? revive(stored as never) : (stored as O));
      };
    },
    drain: () => Promise.all(batches.map((batch) => batch.drain())),
  };
}
