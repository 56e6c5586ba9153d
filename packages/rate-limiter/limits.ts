/** The seven dimensions. Of dimensions with equal waits, a refusal names the one that is first in this list. */
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

/** The name of a dimension in texts: `rate limit exceeded: user RPM`. */
export const dimensionName = (dimension: Dimension): string => {
  const [kind = '', unit = ''] = dimension.split('_');
  return `${kind} ${unit.toUpperCase()}`;
};

/** The kinds of keys. The limiter has one log per key. */
export const keyKinds = ['user', 'token', 'ip', 'model'] as const;
export type KeyKind = (typeof keyKinds)[number];

export const rpmOf = { user: 'user_rpm', token: 'token_rpm', ip: 'ip_rpm', model: 'model_rpm' } as const;
/** An address has no limit for tokens. */
export const tpmOf = { user: 'user_tpm', token: 'token_tpm', ip: null, model: 'model_tpm' } as const;

/** The keys that a request is counted under. Null: the request has no key of this kind, for example no API token. */
export type Subject = {
  readonly user: number | null;
  readonly token: number | null;
  /** The address in a normal form; the limiter compares it as text. */
  readonly ip: string | null;
  /** The name of the model in a normal form; the limiter compares it as text. */
  readonly model: string | null;
};

/** The largest number of requests or tokens within the window, per dimension. 0: unlimited, and no log is kept. */
export type Limits = Readonly<Record<Dimension, number>>;

/** The dimension with the smallest remaining share of its limit, after the request was charged. */
export type Tightest = {
  readonly dimension: Dimension;
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the oldest counted entry leaves the window and `remaining` rises. */
  readonly resetMs: number;
};

export type Admitted = {
  readonly admitted: true;
  /** Null when all dimensions are unlimited. */
  readonly tightest: Tightest | null;
  /** The tightest of the requests dimensions. Null when they are unlimited. */
  readonly tightestRequests: Tightest | null;
  /** The tightest of the tokens dimensions. Null when they are unlimited. */
  readonly tightestTokens: Tightest | null;
  /** Present when the request was admitted without a check: the reason. */
  readonly unchecked?: 'disabled' | 'timeout' | 'error' | 'open';
  /** The time of the charge, in milliseconds of the limiter's clock (on Redis: the clock of the server). */
  readonly at: number;
};

export type Refused = {
  readonly admitted: false;
  /** The exceeded dimension with the longest wait. On a tie, the first in `dimensions`. */
  readonly dimension: Dimension;
  readonly limit: number;
  /** The same request is admitted after this many milliseconds if no other request uses its keys. Null: never. */
  readonly waitMs: number | null;
  /** All exceeded dimensions. */
  readonly denied: readonly Dimension[];
  readonly at: number;
};

export type Verdict = Admitted | Refused;

/** Names one log. Ids of users and tokens are text. The log of a token is stored beside the log of its user. */
export type KeyRef =
  | { readonly kind: 'user' | 'ip' | 'model'; readonly key: string }
  | { readonly kind: 'token'; readonly key: string; readonly user: number };

/** The current content of one log. */
export type KeyUsage = {
  readonly requests: number;
  readonly tokens: number;
  /** Milliseconds until the oldest entry leaves the window; null when the log is empty. */
  readonly oldestLeavesMs: number | null;
};

/** The window: an entry of millisecond t counts until t + 60,000. */
export const windowMs = 60_000;
/** The largest cost of one request in tokens. A larger cost is bad input. */
export const maxCost = 2 ** 31 - 1;

export type Limiter = {
  /** Where the logs are stored. */
  readonly kind: 'embedded' | 'redis' | 'redis-cluster';
  /** Charges all keys when every dimension admits the request; otherwise charges no key. */
  check(subject: Subject, limits: Limits, tokens: number): Verdict | Promise<Verdict>;
  /**
   * Returns a refusal when the requests dimension of a key is known to be exhausted, otherwise null. Charges nothing and
   * calls no store.
   */
  peek(subject: Subject, limits: Limits): Refused | null;
  inspect(of: KeyRef): Promise<KeyUsage>;
  /** Removes one log, or all logs. Returns how many it removed. */
  reset(only?: KeyRef): Promise<number>;
  /** Resolves when the store is connected, or after two seconds without a connection. */
  ready(): Promise<void>;
  close(): Promise<void>;
};
