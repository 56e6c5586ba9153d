import { type ChangeActor, groupCommit, type Statement, type Transaction } from '@tradepost/postgres';
import type { Config } from './config/fields.ts';
import type { Claim, Idempotency } from './idempotency/idempotency.ts';
import type { Metrics } from './observability/metrics.ts';
import { inBatchTrace, type Operation } from './observability/spans.ts';
import { currentTrace, type Trace } from './observability/trace.ts';

/** Creates the statements that store the outcomes of a batch. They are sent in the transaction of the batch. */
export type RecordOutcomes<O> = (tx: Transaction, outcomes: readonly (O | Error)[]) => Statement[];
/**
 * `record` is given when a call of the batch has an idempotency claim. `actor` is given when an administrator makes the call:
 * such a call is a batch of its own, so that the change log names the right actor. Pass it to `actingSql`.
 */
type WriteMany<I, O> = (
  items: readonly I[],
  record?: RecordOutcomes<O>,
  actor?: ChangeActor | null,
) => Promise<readonly (O | Error)[]>;
/** `revive` restores an outcome from JSON. Needed when JSON cannot represent all values of the outcome. */
type GroupCommitOptions<O> = { revive?: (stored: never) => O };
/**
 * With a claim the outcome is stored. When the first request was interrupted after its commit, a repeat gets the stored
 * outcome and writes nothing.
 */
type GroupCommitted<I, O> = (item: I, claim?: Claim | null, actor?: ChangeActor | null) => Promise<O>;

export type GroupCommits = {
  groupCommit<I, O>(useCase: string, writeMany: WriteMany<I, O>, options?: GroupCommitOptions<O>): GroupCommitted<I, O>;
  drain(): Promise<unknown>;
};

type Call<I> = { item: I; claim: Claim | null; actor: ChangeActor | null; trace: Trace | null };

/** Returns the function that stores the outcomes of these calls. Undefined when no call has a claim. */
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
      const operation: Operation<readonly unknown[]> = {
        ...{ kind: 'internal', name: `commit ${useCase}` },
        ofResult: ({ length }) => ({ 'tradepost.batch.size': length }),
      };
      const bounds = { maxBatch: config.batchMax, maxInFlight: config.batchesInFlight };
      const grouped = groupCommit<Call<I>, O>(
        (calls) =>
          inBatchTrace(operation, calls, () =>
            writeMany(
              calls.map((call) => call.item),
              recordOf<I, O>(idempotency, useCase, calls),
              calls[0]!.actor,
            ),
          ),
        { ...bounds, onBatch: (size) => sizes.observe(size), isAlone: ({ actor }: Call<I>) => actor !== null },
      );
      batches.push(grouped);
      return (item: I, claim: Claim | null = null, actor: ChangeActor | null = null): Promise<O> => {
        if (!claim || !Object.hasOwn(claim.outcomes, useCase))
          return grouped({ item, claim, actor, trace: currentTrace() });
        const stored = claim.outcomes[useCase];
        return Promise.resolve(revive ? revive(stored as never) : (stored as O));
      };
    },
    drain: () => Promise.all(batches.map((batch) => batch.drain())),
  };
}
