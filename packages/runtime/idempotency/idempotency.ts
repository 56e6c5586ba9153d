import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, type Coalesced } from '@tradepost/core';
import type { ChangeActor, Sql, Statement, Transaction } from '@tradepost/postgres';
import { actingSql, groupCommit } from '@tradepost/postgres';
import { runtimeErrors as errors } from '../errors.ts';
import type { Log } from '../observability/log.ts';
import type { Settings } from '../settings/settings.ts';
import { openKeyQuota } from './idempotency-quota.ts';
import {
  claimAbandonedKey,
  claimKeys,
  isAbandoned,
  type KeyAnswer,
  type KeyId,
  type KeyRelease,
  type KeyRequest,
  recordOutcomes,
  releaseKeys,
  storeAnswers,
} from './idempotency-store.ts';

/** A claimed key. `outcomes` has the stored outcomes of an earlier run, by use case. */
export type Claim = KeyId & { readonly outcomes: Readonly<Record<string, unknown>> };
/** `nothingDone`: it is certain that the failed request changed nothing. */
export type StoredAnswer = { status: number; code: number; text: string; nothingDone?: boolean };
/**
 * What a repeat may do when the first request was interrupted. `recorded`: run again with the stored outcomes.
 * `natural`: run again, twice is harmless. `once`: never run again.
 */
export type Repeat = 'recorded' | 'natural' | 'once';

export type Idempotency = {
  /**
   * Runs `work` once per caller and key. Repeats get the stored answer. Of concurrent requests one runs, and the others
   * wait for its answer. An answer of 5xx or a rejection is not stored, so a repeat runs again.
   */
  run(
    request: KeyRequest & { repeat: Repeat },
    work: (claim: Claim) => Promise<StoredAnswer>,
  ): Promise<StoredAnswer & { replayed: boolean }>;
  /** The statements that store outcomes, for the transaction of the write. */
  record(tx: Transaction, useCase: string, outcomes: readonly (KeyId & { outcome: unknown })[]): Statement[];
  /**
   * Runs a write in one transaction. With a claim the outcome (JSON) is stored in that transaction: when the first
   * request was interrupted after its commit, a repeat gets the outcome and writes nothing. Call it once per request. The
   * change log names the actor.
   */
  write<T>(claim: Claim | null, work: (tx: Transaction) => Promise<T>, actor?: ChangeActor | null): Promise<T>;
  drain(): Promise<unknown>;
};

/** `Idempotency.write` with the claim of a request, or without a claim. */
export type Write = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

/** The use case under which `write` stores outcomes. */
const writeUseCase = 'write';

const keptSeconds = 24 * 3600;
/** Longer than any request: a statement ends after a minute, and the queues are bounded. */
const leaseSeconds = 180;
/** How long a repeat waits for the first request on another instance. */
const waitMs = 10_000;

/**
 * A request that runs. Its repeats get the answer, or a refusal that applies to them too, or null: then the next of
 * them runs.
 */
type Running = { fingerprint: Buffer; answer: Promise<StoredAnswer | AppError | null> };

/** Resolves with the promise, or with the result of `late` when the promise takes longer than `until`. */
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

/** The statements on claimed keys. Concurrent requests share a transaction. */
class ClaimedKeys {
  readonly claim: Coalesced<KeyRequest, Awaited<ReturnType<typeof claimKeys>>[number]>;
  readonly store: Coalesced<KeyAnswer, boolean>;
  readonly release: Coalesced<KeyRelease, boolean>;

  constructor({ sql, instance }: Deps) {
    this.claim = groupCommit((many: readonly KeyRequest[]) => claimKeys(sql, many, { instance, keptSeconds }));
    this.store = groupCommit(async (many: readonly KeyAnswer[]) => {
      await storeAnswers(sql, many, instance);
      return many.map(() => true);
    });
    this.release = groupCommit(async (many: readonly KeyRelease[]) => {
      await releaseKeys(sql, many, instance);
      return many.map(() => true);
    });
  }

  drain(): Promise<unknown> {
    return Promise.all([this.claim.drain(), this.store.drain(), this.release.drain()]);
  }
}

class KeyedRuns implements Idempotency {
  readonly #deps: Deps;
  readonly #keys: ClaimedKeys;
  readonly #checkQuota: ReturnType<typeof openKeyQuota>;
  /** The requests that run in this process. Their repeats wait without a query. */
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
      // The first request failed. The first of the waiting repeats runs again.
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

  async write<T>(claim: Claim | null, work: (tx: Transaction) => Promise<T>, actor?: ChangeActor | null): Promise<T> {
    if (claim && Object.hasOwn(claim.outcomes, writeUseCase)) return claim.outcomes[writeUseCase] as T;
    const done = await actingSql(this.#deps.sql, actor).begin(async (tx) => {
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

  /** Claims the key and runs, or returns the stored answer, or waits for the request on another instance. */
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
        // The claim may have succeeded before the connection was lost.
        await this.#release({ caller: request.caller, key: request.key, forget: request.repeat !== 'once' }, request);
        throw error;
      });
      if (row === null) return { ...(await this.#carryOut(request, {}, work)), replayed: false };
      if (!row.fingerprint.equals(request.fingerprint)) throw errors.key_reused();
      if (row.answer !== null) return { status: row.status!, code: row.code!, text: row.answer, replayed: true };
      if (request.repeat === 'once') {
        // The key stays with its instance. If that instance still runs, it can store its answer.
        if (await isAbandoned(sql, request, { instance, leaseSeconds })) throw errors.key_outcome_unknown();
      } else {
        const claimed = await claimAbandonedKey(sql, request, { instance, leaseSeconds });
        if (claimed) {
          const outcomes = (claimed.outcome ?? {}) as Claim['outcomes'];
          return { ...(await this.#carryOut(request, outcomes, work)), replayed: Object.keys(outcomes).length > 0 };
        }
      }
      if (performance.now() > until) throw errors.key_in_progress();
      await sleep(pause);
    }
  }

  /** Runs under a claimed key, then stores the answer or releases the key. */
  async #carryOut(
    request: KeyedRequest,
    outcomes: Claim['outcomes'],
    work: (claim: Claim) => Promise<StoredAnswer>,
  ): Promise<StoredAnswer> {
    const { caller, key, repeat } = request;
    const answer = await work({ caller, key, outcomes });
    if (answer.status < 500 && answer.nothingDone !== true) {
      const { status, code, text } = answer;
      await this.#keys.store({ caller, key, status, code, answer: text }).catch(async (error: unknown) => {
        await this.#release({ caller, key, forget: repeat !== 'once' }, request);
        throw error;
      });
      return answer;
    }
    // After a 5xx the effect is unknown, unless the write stores its outcome or is harmless twice.
    const forget = repeat !== 'once' || answer.nothingDone === true;
    await this.#release({ caller, key, forget }, request);
    if (!forget)
      this.#deps.log.warn({ key }, 'a write failed and its outcome is unknown: its Idempotency-Key cannot be repeated');
    return answer;
  }

  /**
   * Releases a key. While the database does not answer, it is tried again: this instance still runs, so other instances
   * would treat the request as running. When a repeat has started in the meantime, the key stays claimed.
   */
  async #release(of: KeyRelease, { fingerprint }: KeyRequest): Promise<void> {
    await this.#keys.release(of).catch((error: unknown) => {
      this.#deps.log.warn({ err: error, key: of.key }, 'an Idempotency-Key could not be released: trying again');
      void this.#releaseLater(of, fingerprint);
    });
  }

  async #releaseLater(of: KeyRelease, fingerprint: Buffer): Promise<void> {
    const id = idOf(of);
    const until = performance.now() + leaseSeconds * 1000;
    for (let pause = 100; !this.#closing && performance.now() < until; pause = Math.min(pause * 2, 2_000)) {
      await sleep(pause, undefined, { ref: false });
      if (this.#closing || this.#running.has(id)) return;
      // A repeat that arrives now waits, so that its new claim is not deleted by this release.
      const released = this.#keys.release(of).catch(() => false);
      this.#running.set(id, { fingerprint, answer: released.then(() => null) });
      const done = await released;
      this.#running.delete(id);
      if (done) return;
    }
  }
}

export const openIdempotency = (deps: Deps): Idempotency => new KeyedRuns(deps);
