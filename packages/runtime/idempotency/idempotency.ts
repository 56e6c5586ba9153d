import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@tradepost/core';
import type { Sql, Statement, Transaction } from '@tradepost/postgres';
import { groupCommit } from '@tradepost/postgres';
import { runtimeErrors as errors } from '../errors.ts';
import type { Log } from '../observability/log.ts';
import type { Settings } from '../settings/settings.ts';
import { openKeyQuota } from './idempotency-quota.ts';
import {
  claimKeys,
  isAbandoned,
  type KeyAnswer,
  type KeyId,
  type KeyRequest,
  keepAnswers,
  type LetGo,
  recordOutcomes,
  releaseKeys,
  takeOverKey,
} from './idempotency-store.ts';

/** A key that this request may run under. `outcomes`: what an earlier run of it has already done, by use case. */
export type Claim = KeyId & { readonly outcomes: Readonly<Record<string, unknown>> };
/** `nothingDone`: a fault that is known to have changed nothing. */
export type StoredAnswer = { status: number; code: number; text: string; nothingDone?: boolean };
/** What a repeat may do whose first request has died on the way. */
export type Repeat = 'recorded' | 'natural' | 'once';

export type Idempotency = {
  /**
   * Runs `work` once per caller and key, and answers every repeat with what it answered. Of several at once one runs, the
   * others wait for its answer. An answer of 5xx, or a rejection, is not kept: a repeat runs again.
   */
  run(
    request: KeyRequest & { repeat: Repeat },
    work: (claim: Claim) => Promise<StoredAnswer>,
  ): Promise<StoredAnswer & { replayed: boolean }>;
  /** Statement that keeps outcomes in the transaction that brings them about. */
  record(tx: Transaction, useCase: string, outcomes: readonly (KeyId & { outcome: unknown })[]): Statement[];
  /**
   * Runs a write in one transaction. With a claim its outcome (JSON) is kept in that transaction, and a repeat whose first request
   * died after its commit gets the outcome and writes nothing. Once per request.
   */
  write<T>(claim: Claim | null, work: (tx: Transaction) => Promise<T>): Promise<T>;
  drain(): Promise<unknown>;
};

/** `Idempotency.write` under the key of a request, or under none. */
export type Write = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

/** What `write` keeps outcomes under. */
const writeUseCase = 'write';

const keptSeconds = 24 * 3600;
/** Longer than a request may take: a statement ends after a minute, a queue is bounded. */
const leaseSeconds = 180;
/** What a repeat waits for the first request on another instance. */
const waitMs = 10_000;

/** What those who wait get: the answer, a refusal that is theirs too, or null when the next of them shall try. */
type Running = { fingerprint: Buffer; answer: Promise<StoredAnswer | AppError | null> };

/** Answers `late` when it takes longer than until then. */
async function within<T>(promise: Promise<T>, until: number, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late()), Math.max(0, until - performance.now()));
  });
  return Promise.race([promise, over]).finally(() => clearTimeout(timer));
}

export function openIdempotency(deps: {
  sql: Sql;
  instance: string;
  log: Log;
  settings: Pick<Settings, 'get'>;
}): Idempotency {
  const { sql, instance, log } = deps;
  const claim = groupCommit((many: readonly KeyRequest[]) => claimKeys(sql, many, { instance, keptSeconds }));
  const keep = groupCommit(async (many: readonly KeyAnswer[]) => {
    await keepAnswers(sql, many, instance);
    return many.map(() => true);
  });
  const release = groupCommit(async (many: readonly LetGo[]) => {
    await releaseKeys(sql, many, instance);
    return many.map(() => true);
  });
  const checkQuota = openKeyQuota(deps);
  /** What runs in this process, so that its repeats need no query to wait for it. */
  const running = new Map<string, Running>();
  const idOf = ({ caller, key }: KeyId) => `${caller} ${key}`;
  let closing = false;

  /**
   * Lets go of a key; when the database is away, as soon as it is back: this instance lives, so the others would take its
   * request for still running. A run that has begun meanwhile has the key for itself.
   */
  async function letGo(of: LetGo, { fingerprint }: KeyRequest): Promise<void> {
    const until = performance.now() + leaseSeconds * 1000;
    const again = async () => {
      for (let pause = 100; !closing && performance.now() < until; pause = Math.min(pause * 2, 2_000)) {
        await sleep(pause, undefined, { ref: false });
        if (closing || running.has(idOf(of))) return;
        // A repeat that comes now waits for it: it must not lose the row that it has just claimed.
        const released = release(of).catch(() => false);
        const entry: Running = { fingerprint, answer: released.then(() => null) };
        running.set(idOf(of), entry);
        const done = await released;
        running.delete(idOf(of));
        if (done) return;
      }
    };
    await release(of).catch((error: unknown) => {
      log.warn({ err: error, key: of.key }, 'an Idempotency-Key could not be let go of: trying again');
      void again();
    });
  }

  /** Runs under a claimed key and keeps the answer, or lets go of the key. */
  async function carryOut(
    request: KeyRequest & { repeat: Repeat },
    outcomes: Claim['outcomes'],
    work: (claim: Claim) => Promise<StoredAnswer>,
  ): Promise<StoredAnswer> {
    const { caller, key, repeat } = request;
    const answer = await work({ caller, key, outcomes });
    if (answer.status < 500) {
      const { status, code, text } = answer;
      await keep({ caller, key, status, code, answer: text }).catch(async (error: unknown) => {
        await letGo({ caller, key, forget: repeat !== 'once' }, request);
        throw error;
      });
      return answer;
    }
    // After a 5xx nobody knows what was done, unless the write keeps its outcome or may be done twice.
    const forget = repeat !== 'once' || answer.nothingDone === true;
    await letGo({ caller, key, forget }, request);
    if (!forget) log.warn({ key }, 'a write failed on the way: its Idempotency-Key can not be repeated');
    return answer;
  }

  async function settle(
    request: KeyRequest & { repeat: Repeat },
    work: (claim: Claim) => Promise<StoredAnswer>,
    until: number,
  ): Promise<StoredAnswer & { replayed: boolean }> {
    const counting = checkQuota(request);
    if (counting) await counting;
    for (let pause = 20; ; pause = Math.min(pause * 2, 500)) {
      const row = await claim(request).catch(async (error: unknown) => {
        // It may have been claimed all the same.
        await letGo({ caller: request.caller, key: request.key, forget: request.repeat !== 'once' }, request);
        throw error;
      });
      if (row === null) return { ...(await carryOut(request, {}, work)), replayed: false };
      if (!row.fingerprint.equals(request.fingerprint)) throw errors.key_reused();
      if (row.answer !== null) return { status: row.status!, code: row.code!, text: row.answer, replayed: true };
      if (request.repeat === 'once') {
        // Only looked at: if its process lives after all, its answer is still kept.
        if (await isAbandoned(sql, request, { instance, leaseSeconds })) throw errors.key_outcome_unknown();
      } else {
        const taken = await takeOverKey(sql, request, { instance, leaseSeconds });
        if (taken) {
          const outcomes = (taken.outcome ?? {}) as Claim['outcomes'];
          return { ...(await carryOut(request, outcomes, work)), replayed: Object.keys(outcomes).length > 0 };
        }
      }
      if (performance.now() > until) throw errors.key_in_progress();
      await sleep(pause);
    }
  }

  const record: Idempotency['record'] = (tx, useCase, outcomes) => {
    if (outcomes.length === 0) return [];
    const named = outcomes.map(({ caller, key, outcome }) => ({ caller, key, outcome: { [useCase]: outcome } }));
    return [recordOutcomes(tx, named, instance)];
  };

  return {
    async run(request, work) {
      const id = idOf(request);
      const until = performance.now() + waitMs;
      for (;;) {
        const other = running.get(id);
        if (!other) break;
        if (!other.fingerprint.equals(request.fingerprint)) throw errors.key_reused();
        const answer = await within(other.answer, until, errors.key_in_progress);
        if (answer instanceof AppError) throw answer;
        if (answer && answer.status < 500) return { ...answer, replayed: true };
        // The first one failed: whoever comes first among those who waited tries again.
      }
      const settled = settle(request, work, until);
      const answer = settled.catch((error: unknown) =>
        error instanceof AppError && error.status < 500 ? error : null,
      );
      const entry: Running = { fingerprint: request.fingerprint, answer };
      running.set(id, entry);
      try {
        return await settled;
      } finally {
        running.delete(id);
      }
    },
    record,
    async write<T>(claim: Claim | null, work: (tx: Transaction) => Promise<T>): Promise<T> {
      if (claim && Object.hasOwn(claim.outcomes, writeUseCase)) return claim.outcomes[writeUseCase] as T;
      const done = await sql.begin(async (tx) => {
        const value = await work(tx);
        if (claim) await Promise.all(record(tx, writeUseCase, [{ ...claim, outcome: value ?? null }]));
        return { value };
      });
      return done.value;
    },
    drain() {
      closing = true;
      return Promise.all([claim.drain(), keep.drain(), release.drain()]);
    },
  };
}
