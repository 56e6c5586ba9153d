import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, type Coalesced } from '@tradepost/core';
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

type Deps = { sql: Sql; instance: string; log: Log; settings: Pick<Settings, 'get'> };
type KeyedRequest = KeyRequest & { repeat: Repeat };

const idOf = ({ caller, key }: KeyId) => `${caller} ${key}`;

/** Statements on claimed keys; those of concurrent requests share a transaction. */
class ClaimedKeys {
  readonly claim: Coalesced<KeyRequest, Awaited<ReturnType<typeof claimKeys>>[number]>;
  readonly keep: Coalesced<KeyAnswer, boolean>;
  readonly release: Coalesced<LetGo, boolean>;

  constructor({ sql, instance }: Deps) {
    this.claim = groupCommit((many: readonly KeyRequest[]) => claimKeys(sql, many, { instance, keptSeconds }));
    this.keep = groupCommit(async (many: readonly KeyAnswer[]) => {
      await keepAnswers(sql, many, instance);
      return many.map(() => true);
    });
    this.release = groupCommit(async (many: readonly LetGo[]) => {
      await releaseKeys(sql, many, instance);
      return many.map(() => true);
    });
  }

  drain(): Promise<unknown> {
    return Promise.all([this.claim.drain(), this.keep.drain(), this.release.drain()]);
  }
}

class KeyedRuns implements Idempotency {
  readonly #deps: Deps;
  readonly #keys: ClaimedKeys;
  readonly #checkQuota: ReturnType<typeof openKeyQuota>;
  /** The requests that run in this process: their repeats wait for them without a query. */
  readonly #running = new Map<string, Running>();
  #closing = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#keys = new ClaimedKeys(deps);
    this.#checkQuota = openKeyQuota(deps);
  }

  async run(request: KeyedRequest, work: (claim: Claim) => Promise<StoredAnswer>) {
    const id = idOf(request);
    const until = performance.now() + waitMs;
    for (;;) {
      const other = this.#running.get(id);
      if (!other) break;
      if (!other.fingerprint.equals(request.fingerprint)) throw errors.key_reused();
      const answer = await within(other.answer, until, errors.key_in_progress);
      if (answer instanceof AppError) throw answer;
      if (answer && answer.status < 500) return { ...answer, replayed: true };
      // The first request failed: the first of the repeats that waited runs again.
    }
    const settled = this.#settle(request, work, until);
    const answer = settled.catch((error: unknown) => (error instanceof AppError && error.status < 500 ? error : null));
    const entry: Running = { fingerprint: request.fingerprint, answer };
    this.#running.set(id, entry);
    try {
      return await settled;
    } finally {
      this.#running.delete(id);
    }
  }

  record(tx: Transaction, useCase: string, outcomes: readonly (KeyId & { outcome: unknown })[]): Statement[] {
    if (outcomes.length === 0) return [];
    const named = outcomes.map(({ caller, key, outcome }) => ({ caller, key, outcome: { [useCase]: outcome } }));
    return [recordOutcomes(tx, named, this.#deps.instance)];
  }

  async write<T>(claim: Claim | null, work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (claim && Object.hasOwn(claim.outcomes, writeUseCase)) return claim.outcomes[writeUseCase] as T;
    const done = await this.#deps.sql.begin(async (tx) => {
      const value = await work(tx);
      if (claim) await Promise.all(this.record(tx, writeUseCase, [{ ...claim, outcome: value ?? null }]));
      return { value };
    });
    return done.value;
  }

  drain(): Promise<unknown> {
    this.#closing = true;
    return this.#keys.drain();
  }

  /** Claims the key and runs, or answers what is stored, or waits for a run on another instance. */
  async #settle(
    request: KeyedRequest,
    work: (claim: Claim) => Promise<StoredAnswer>,
    until: number,
  ): Promise<StoredAnswer & { replayed: boolean }> {
    const { sql, instance } = this.#deps;
    const counting = this.#checkQuota(request);
    if (counting) await counting;
    for (let pause = 20; ; pause = Math.min(pause * 2, 500)) {
      const row = await this.#keys.claim(request).catch(async (error: unknown) => {
        // It may have been claimed all the same.
        await this.#release({ caller: request.caller, key: request.key, forget: request.repeat !== 'once' }, request);
        throw error;
      });
      if (row === null) return { ...(await this.#carryOut(request, {}, work)), replayed: false };
      if (!row.fingerprint.equals(request.fingerprint)) throw errors.key_reused();
      if (row.answer !== null) return { status: row.status!, code: row.code!, text: row.answer, replayed: true };
      if (request.repeat === 'once') {
        // The key is not taken over: if its process lives after all, its answer is still kept.
        if (await isAbandoned(sql, request, { instance, leaseSeconds })) throw errors.key_outcome_unknown();
      } else {
        const taken = await takeOverKey(sql, request, { instance, leaseSeconds });
        if (taken) {
          const outcomes = (taken.outcome ?? {}) as Claim['outcomes'];
          return { ...(await this.#carryOut(request, outcomes, work)), replayed: Object.keys(outcomes).length > 0 };
        }
      }
      if (performance.now() > until) throw errors.key_in_progress();
      await sleep(pause);
    }
  }

  /** Runs under a claimed key and keeps the answer, or releases the key. */
  async #carryOut(
    request: KeyedRequest,
    outcomes: Claim['outcomes'],
    work: (claim: Claim) => Promise<StoredAnswer>,
  ): Promise<StoredAnswer> {
    const { caller, key, repeat } = request;
    const answer = await work({ caller, key, outcomes });
    if (answer.status < 500) {
      const { status, code, text } = answer;
      await this.#keys.keep({ caller, key, status, code, answer: text }).catch(async (error: unknown) => {
        await this.#release({ caller, key, forget: repeat !== 'once' }, request);
        throw error;
      });
      return answer;
    }
    // After a 5xx it is unknown what was done, unless the write keeps its outcome or may be done twice.
    const forget = repeat !== 'once' || answer.nothingDone === true;
    await this.#release({ caller, key, forget }, request);
    if (!forget) this.#deps.log.warn({ key }, 'a write failed on the way: its Idempotency-Key can not be repeated');
    return answer;
  }

  /**
   * Releases a key; when the database is away, as soon as it is back: this instance lives, so the others would take its
   * request for still running. A run that has begun meanwhile keeps the key.
   */
  async #release(of: LetGo, { fingerprint }: KeyRequest): Promise<void> {
    await this.#keys.release(of).catch((error: unknown) => {
      this.#deps.log.warn({ err: error, key: of.key }, 'an Idempotency-Key could not be let go of: trying again');
      void this.#releaseLater(of, fingerprint);
    });
  }

  async #releaseLater(of: LetGo, fingerprint: Buffer): Promise<void> {
    const id = idOf(of);
    const until = performance.now() + leaseSeconds * 1000;
    for (let pause = 100; !this.#closing && performance.now() < until; pause = Math.min(pause * 2, 2_000)) {
      await sleep(pause, undefined, { ref: false });
      if (this.#closing || this.#running.has(id)) return;
      // A repeat that comes now waits for it: it must not lose the row that it has just claimed.
      const released = this.#keys.release(of).catch(() => false);
      this.#running.set(id, { fingerprint, answer: released.then(() => null) });
      const done = await released;
      this.#running.delete(id);
      if (done) return;
    }
  }
}

export const openIdempotency = (deps: Deps): Idempotency => new KeyedRuns(deps);
