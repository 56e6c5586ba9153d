/** The seven dimensions, in the order in which ties between them are settled. */
export const dimensions = [
  'user_rpm',
  'user_tpm',
  'token_rpm',
  'token_tpm',
  'ip_rpm',
  'model_rpm',
  'model_tpm',
] as const;
export type Dimension = (typeof dimensions)[number];

/** As the refusal names it: `rate limit exceeded: user RPM`. */
export const dimensionName = (dimension: Dimension): string => {
  const [of, unit] = dimension.split('_') as [string, string];
  return `${of} ${unit.toUpperCase()}`;
};

/** What the limiter keeps one log of each. */
export const keyKinds = ['user', 'token', 'ip', 'model'] as const;
export type KeyKind = (typeof keyKinds)[number];

export const rpmOf = { user: 'user_rpm', token: 'token_rpm', ip: 'ip_rpm', model: 'model_rpm' } as const;
/** An address has no limit of tokens. */
export const tpmOf = { user: 'user_tpm', token: 'token_tpm', ip: null, model: 'model_tpm' } as const;

/** Whom a request is counted against; null where it has none of the kind (no API token yet, no model named). */
export type Subject = {
  readonly user: number | null;
  readonly token: number | null;
  /** `ipKey` of the address. */
  readonly ip: string | null;
  /** `modelKey` of its name. */
  readonly model: string | null;
};

/** Most requests or tokens within the window, by dimension; 0 is unlimited and keeps no log. */
export type Limits = Readonly<Record<Dimension, number>>;

/** The dimension with the smallest share left, after the request was charged. */
export type Tightest = {
  readonly dimension: Dimension;
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until `remaining` rises next: the oldest counted entry leaves the window. */
  readonly resetMs: number;
};

export type Admitted = {
  readonly admitted: true;
  /** null where nothing is limited. */
  readonly tightest: Tightest | null;
  /** Let through without a check: why. */
  readonly unchecked?: 'disabled' | 'timeout' | 'error' | 'open';
  /** Milliseconds of the limiter's own clock (the server's with Redis) at which it was charged. */
  readonly at: number;
};

export type Refused = {
  readonly admitted: false;
  /** The one with the longest wait; on a tie the first in `dimensions`. */
  readonly dimension: Dimension;
  readonly limit: number;
  /** Milliseconds after which the same request would be admitted if nobody else came meanwhile; null: it never will be. */
  readonly waitMs: number | null;
  /** Every dimension that was exceeded. */
  readonly denied: readonly Dimension[];
  readonly at: number;
};

export type Verdict = Admitted | Refused;

/** One log: ids of users and tokens as text, an `ipKey`, a `modelKey`. A token's log lies where its user's does. */
export type KeyRef =
  | { readonly kind: 'user' | 'ip' | 'model'; readonly key: string }
  | { readonly kind: 'token'; readonly key: string; readonly user: number };

/** One log as it stands. */
export type KeyUsage = {
  readonly requests: number;
  readonly tokens: number;
  /** Milliseconds until the oldest entry leaves the window; null when the log is empty. */
  readonly oldestLeavesMs: number | null;
};

/** The window: an entry of millisecond t counts until t + 60,000. */
export const windowMs = 60_000;
/** The most tokens one request can be charged: larger costs are bad input. */
export const maxCost = 2 ** 31 - 1;

/** Where the logs are. `check` charges all keys when every dimension admits, else none. */
export type Limiter = {
  readonly kind: 'embedded' | 'redis' | 'redis-cluster';
  check(subject: Subject, limits: Limits, tokens: number): Verdict | Promise<Verdict>;
  /** Whether the requests dimension of a key is known to be exhausted, without charging or asking a store; null if not. */
  peek(subject: Subject, limits: Limits): Refused | null;
  inspect(of: KeyRef): Promise<KeyUsage>;
  /** Forgets one log, or all; answers how many. */
  reset(only?: KeyRef): Promise<number>;
  /** Resolves when the store has been reached, or after a moment without it. */
  ready(): Promise<void>;
  close(): Promise<void>;
};
