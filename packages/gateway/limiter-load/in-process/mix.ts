import { keyKinds, type Subject } from '@tradepost/rate-limiter';

export const distributions = ['zipf', 'uniform'] as const;
export type Distribution = (typeof distributions)[number];

export type MixOptions = {
  readonly users: number;
  /** API tokens of each user; 0: requests have no token. */
  readonly tokensPerUser: number;
  readonly ips: number;
  readonly models: number;
  readonly distribution: Distribution;
  /** The lowest and the highest cost of a request, in tokens. */
  readonly cost: readonly [number, number];
  readonly seed: number;
};

/** The keys of the requests of a run. A key is a number from 0; the kinds are in the order of `keyKinds`. */
export type Mix = {
  /** Number of keys of each kind. */
  readonly counts: readonly number[];
  /** Draws the next request. Writes its keys to `into` from `at` on, and returns its cost. */
  draw(into: { [index: number]: number }, at: number): number;
  /** The subject of these keys, for the limiter. */
  subjectOf(keys: ArrayLike<number>, at: number): Subject;
  /** The name of a key, for people. */
  nameOf(kind: number, key: number): string;
};

/** Random numbers in [0, 1). The same seed gives the same numbers. */
function randomFrom(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Draws one of `count` numbers, the k-th with a share of 1/k, by Walker's alias method: two random numbers a draw. */
function zipf(count: number, random: () => number): () => number {
  let total = 0;
  for (let k = 1; k <= count; k += 1) total += 1 / k;
  const share = new Float64Array(count);
  const other = new Uint32Array(count);
  const small: number[] = [];
  const large: number[] = [];
  for (let i = 0; i < count; i += 1) {
    share[i] = count / ((i + 1) * total);
    (share[i]! < 1 ? small : large).push(i);
  }
  while (small.length > 0 && large.length > 0) {
    const poor = small.pop()!;
    const rich = large.at(-1)!;
    other[poor] = rich;
    share[rich] = share[rich]! - (1 - share[poor]!);
    if (share[rich]! < 1) small.push(large.pop()!);
  }
  for (const rest of [...small, ...large]) share[rest] = 1;
  return () => {
    const at = (random() * count) | 0;
    return random() < share[at]! ? at : other[at]!;
  };
}

const uniform = (count: number, random: () => number) => () => (random() * count) | 0;

/** The key of a private /24 network. */
const networkName = (key: number) => `${10 + (key >> 16)}.${(key >> 8) & 255}.${key & 255}`;

export function openMix(options: MixOptions): Mix {
  const { users, tokensPerUser, ips, models, cost, seed } = options;
  const random = randomFrom(seed);
  const drawn = options.distribution === 'zipf' ? zipf : uniform;
  const user = drawn(users, random);
  const model = drawn(Math.max(1, models), random);
  const ip = uniform(ips, random);
  const networks = Array.from({ length: ips }, (_, key) => networkName(key));
  const modelNames = Array.from({ length: models }, (_, key) => `model-${key + 1}`);
  const [least, most] = cost;
  return {
    counts: [users, users * tokensPerUser, ips, models],
    draw(into, at) {
      const drawnUser = user();
      into[at] = drawnUser;
      into[at + 1] = tokensPerUser > 1 ? drawnUser * tokensPerUser + ((random() * tokensPerUser) | 0) : drawnUser;
      into[at + 2] = ips > 1 ? ip() : 0;
      into[at + 3] = models > 1 ? model() : 0;
      return most > least ? least + Math.floor(random() * (most - least + 1)) : least;
    },
    subjectOf: (keys, at) => ({
      user: keys[at]! + 1,
      token: tokensPerUser > 0 ? keys[at + 1]! + 1 : null,
      ip: ips > 0 ? networks[keys[at + 2]!]! : null,
      model: models > 0 ? modelNames[keys[at + 3]!]! : null,
    }),
    nameOf(kind, key) {
      const names = [String(key + 1), String(key + 1), networks[key], modelNames[key]];
      return `${keyKinds[kind]}:${names[kind]}`;
    },
  };
}
