import { type Dimension, keyKinds, type Limits } from '@tradepost/rate-limiter';
import type { AdmissionRecords } from './admission-records.ts';

/** The counts of one kind of keys. 0 as a limit is unlimited. */
type KindCounts = {
  /** Index into the keys of a request. */
  readonly kind: number;
  readonly rpm: number;
  readonly tpm: number;
  /** By key. */
  readonly requests: Uint32Array;
  readonly tokens: Float64Array;
};

/** A key that has more than its limit. `count`: requests or tokens, as the dimension says. */
export type KeyExcess = {
  readonly dimension: Dimension;
  readonly kind: number;
  readonly key: number;
  readonly count: number;
  readonly limit: number;
};

/** Requests and tokens of each key within one window. Only kinds of keys that have a limit are counted. */
export class WindowCounts {
  readonly #counted: readonly KindCounts[];

  /** `keyCounts`: how many keys of each kind there are, in the order of `keyKinds`. */
  constructor(limits: Limits, keyCounts: readonly number[]) {
    this.#counted = keyKinds
      .map((name, kind) => ({
        kind,
        rpm: limits[`${name}_rpm`],
        tpm: name === 'ip' ? 0 : limits[`${name}_tpm`],
        requests: new Uint32Array(keyCounts[kind]!),
        tokens: new Float64Array(keyCounts[kind]!),
      }))
      .filter(({ rpm, tpm, requests }) => (rpm > 0 || tpm > 0) && requests.length > 0);
  }

  /** The kinds that are counted. */
  get kinds(): readonly number[] {
    return this.#counted.map(({ kind }) => kind);
  }

  /** Counts a request. Returns whether all its keys are within their limits. */
  add(keys: ArrayLike<number>, offset: number, cost: number): boolean {
    let within = true;
    for (const { kind, rpm, tpm, requests, tokens } of this.#counted) {
      const key = keys[offset + kind]!;
      const count = requests[key]! + 1;
      const sum = tokens[key]! + cost;
      requests[key] = count;
      tokens[key] = sum;
      if ((rpm > 0 && count > rpm) || (tpm > 0 && sum > tpm)) within = false;
    }
    return within;
  }

  /** Takes record `n`, which has left the window, out of the counts. */
  remove(records: AdmissionRecords, n: number): void {
    const cost = records.costOf(n);
    for (let slot = 0; slot < this.#counted.length; slot += 1) {
      const { requests, tokens } = this.#counted[slot]!;
      const key = records.keyOf(n, slot);
      requests[key] = requests[key]! - 1;
      tokens[key] = tokens[key]! - cost;
    }
  }

  clear(): void {
    for (const { requests, tokens } of this.#counted) {
      requests.fill(0);
      tokens.fill(0);
    }
  }

  /** Whether every key of a request has room for it. */
  hasRoom(keys: ArrayLike<number>, offset: number, cost: number): boolean {
    for (const { kind, rpm, tpm, requests, tokens } of this.#counted) {
      const key = keys[offset + kind]!;
      if (rpm > 0 && requests[key]! + 1 > rpm) return false;
      if (tpm > 0 && tokens[key]! + cost > tpm) return false;
    }
    return true;
  }

  /** Whether every key had room for a request, given all records after `from` and not after `upTo`. */
  hadRoom(records: AdmissionRecords, from: number, upTo: number, keys: ArrayLike<number>, cost: number): boolean {
    const requests = this.#counted.map(() => 0);
    const tokens = this.#counted.map(() => 0);
    for (let n = records.end - 1; n >= records.first; n -= 1) {
      const at = records.timeOf(n);
      if (at > upTo) continue;
      if (at <= from) break;
      for (let slot = 0; slot < this.#counted.length; slot += 1) {
        if (records.keyOf(n, slot) !== keys[this.#counted[slot]!.kind]) continue;
        requests[slot]! += 1;
        tokens[slot]! += records.costOf(n);
      }
    }
    return this.#counted.every(
      ({ rpm, tpm }, slot) => (rpm === 0 || requests[slot]! + 1 <= rpm) && (tpm === 0 || tokens[slot]! + cost <= tpm),
    );
  }

  /** The keys of a request that have more than their limit, at most one dimension of each. */
  excesses(keys: ArrayLike<number>, offset: number): KeyExcess[] {
    return this.#counted.flatMap(({ kind, rpm, tpm, requests, tokens }): KeyExcess[] => {
      const key = keys[offset + kind]!;
      const name = keyKinds[kind]!;
      if (rpm > 0 && requests[key]! > rpm)
        return [{ dimension: `${name}_rpm`, kind, key, count: requests[key]!, limit: rpm }];
      if (name !== 'ip' && tpm > 0 && tokens[key]! > tpm)
        return [{ dimension: `${name}_tpm`, kind, key, count: tokens[key]!, limit: tpm }];
      return [];
    });
  }
}
