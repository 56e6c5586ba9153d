import { type Dimension, dimensions, type KeyKind, type Limits } from '@tradepost/rate-limiter';
import { isOfRequests, kindOf } from '../findings.ts';
import { openIntervalLog } from './interval-log.ts';
import { type GatewayFacts, KnownLimits } from './known-limits.ts';

/** A key that was certainly admitted more than its limit within one window. */
export type Excess = {
  readonly dimension: Dimension;
  readonly key: string;
  readonly count: number;
  readonly limit: number;
};

/** A key that the limiter counts, with the tokens whose requests count for it. */
type Entry = {
  readonly name: string;
  readonly log: ReturnType<typeof openIntervalLog>;
  readonly tokens: readonly number[];
};

export type GatewayAdmissionsOptions = {
  /** Beginnings of the secrets. */
  readonly tokenNames: readonly string[];
  readonly model: string | null;
  /** Limits from the command line. */
  readonly given: Partial<Limits>;
  readonly facts: GatewayFacts | null;
  readonly windowMs: number;
};

/** The keys of a run. A token whose user is unknown is counted alone, so it shows a part of what its user was admitted. */
function entriesOf({
  tokenNames,
  model,
  facts,
  windowMs,
}: GatewayAdmissionsOptions): Record<KeyKind, readonly Entry[]> {
  const all = tokenNames.map((_, token) => token);
  const entry = (name: string, tokens: readonly number[]): Entry => ({ name, log: openIntervalLog(windowMs), tokens });
  const users = Map.groupBy(all, (token) => {
    const user = facts?.tokens[token]?.userId;
    return user === undefined ? `token:${tokenNames[token]}` : `user:${user}`;
  });
  return {
    token: tokenNames.map((name, token) => entry(`token:${name}`, [token])),
    user: [...users].map(([name, tokens]) => entry(name, tokens)),
    ip: [entry('ip:(this machine)', all)],
    model: model === null ? [] : [entry(`model:${model}`, all)],
  };
}

/** The admissions of each key that a client knows, compared with the limits that are known. */
export class GatewayAdmissions {
  readonly #limits: KnownLimits;
  readonly #entries: Record<KeyKind, readonly Entry[]>;
  /** By token: the entries that its requests count for. */
  readonly #entriesOfToken: readonly (readonly Entry[])[];
  /** The dimensions that requests of this run can use. A list of models costs no tokens and names no model. */
  readonly #dimensions: readonly Dimension[];
  readonly #usedTokens = new Set<number>();

  constructor(options: GatewayAdmissionsOptions) {
    this.#limits = new KnownLimits(options.given, options.facts);
    this.#entries = entriesOf(options);
    const ofToken = options.tokenNames.map((): Entry[] => []);
    for (const entry of Object.values(this.#entries).flat())
      for (const token of entry.tokens) ofToken[token]!.push(entry);
    this.#entriesOfToken = ofToken;
    this.#dimensions = dimensions.filter(
      (dimension) => options.model !== null || (isOfRequests(dimension) && kindOf(dimension) !== 'model'),
    );
  }

  /** Counts an admitted request. `sent` and `received` are local times. */
  admitted(token: number, sent: number, received: number, tokens: number): void {
    this.#usedTokens.add(token);
    for (const { log } of this.#entriesOfToken[token]!) log.admitted(sent, received, tokens);
  }

  /** A refusal names a dimension and its limit. */
  limitNamed(token: number, dimension: Dimension, limit: number): void {
    this.#limits.learn(token, dimension, limit);
  }

  /** The excesses that are certain at this moment. */
  excesses(): Excess[] {
    return this.#dimensions.flatMap((dimension) =>
      this.#entries[kindOf(dimension)].flatMap(({ name, log, tokens }) => {
        if (!tokens.some((token) => this.#usedTokens.has(token))) return [];
        const limit = this.#limits.limitOf(dimension, tokens) ?? 0;
        const count = isOfRequests(dimension) ? log.maxRequests : log.maxTokens;
        return limit > 0 && count > limit ? [{ dimension, key: name, count, limit }] : [];
      }),
    );
  }

  get verified(): readonly Dimension[] {
    return this.#dimensions.filter((dimension) => this.#isKnown(dimension));
  }

  get notVerified(): readonly Dimension[] {
    return this.#dimensions.filter((dimension) => !this.#isKnown(dimension));
  }

  /** Dimensions that are not verified, although the limits of some of their keys are known. */
  get partlyVerified(): readonly { readonly dimension: Dimension; readonly known: number; readonly of: number }[] {
    return this.#dimensions
      .map((dimension) => ({
        dimension,
        known: this.#knownKeys(dimension),
        of: this.#entries[kindOf(dimension)].length,
      }))
      .filter(({ known, of }) => known > 0 && known < of);
  }

  #knownKeys(dimension: Dimension): number {
    const entries = this.#entries[kindOf(dimension)];
    return entries.filter(({ tokens }) => this.#limits.limitOf(dimension, tokens) !== undefined).length;
  }

  #isKnown(dimension: Dimension): boolean {
    return this.#knownKeys(dimension) === this.#entries[kindOf(dimension)].length;
  }
}
