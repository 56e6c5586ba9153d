import type { Limits, Subject } from '@tradepost/rate-limiter';

const users = 100_000;
const addresses = 4_096;
const models = ['large', 'small', 'mini', 'nano', 'vision', 'audio', 'reason', 'embed'].map((name) => `bench-${name}`);
const length = 2 ** 20;

/** A million requests, the same in every process: users by Zipf's law (s = 1), one token and one /24 each. */
export type Traffic = { subject(n: number): Subject; cost(n: number): number };

/** Random numbers in [0, 1), the same sequence in every run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws 0..n-1, the k-th in proportion to 1 / (k + 1). */
function zipf(n: number, random: () => number): () => number {
  const upTo = new Float64Array(n);
  let sum = 0;
  for (let k = 0; k < n; k++) {
    sum += 1 / (k + 1);
    upTo[k] = sum;
  }
  return () => {
    const at = random() * sum;
    let low = 0;
    let high = n - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (upTo[middle]! > at) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}

export const addressOf = (user: number): string => {
  const at = Math.imul(user, 0x9e3779b1) >>> 20;
  return `10.${at >> 8}.${at & 255}`;
};
export const modelOf = (n: number): string => models[n % models.length]!;

export function openTraffic(seed = 1): Traffic {
  const random = randomOf(seed);
  const nextUser = zipf(users, random);
  const nextModel = zipf(models.length, random);
  const userOf = new Int32Array(length);
  const model = new Uint8Array(length);
  const costs = new Uint16Array(length);
  for (let n = 0; n < length; n++) {
    userOf[n] = nextUser() + 1;
    model[n] = nextModel();
    costs[n] = 200 + Math.floor(random() * 2_800);
  }
  const ips = Array.from({ length: users + 1 }, (_, user) => addressOf(user));
  return {
    subject(n) {
      const user = userOf[n & (length - 1)]!;
      return { user, token: user, ip: ips[user]!, model: models[model[n & (length - 1)]!]! };
    },
    cost: (n) => costs[n & (length - 1)]!,
  };
}

const high = 1_000_000_000_000;
export const mixes = {
  /** All seven dimensions are checked and no limit is reached. */
  admitted: {
    ...{ user_rpm: high, user_tpm: high, token_rpm: high, token_tpm: high },
    ...{ ip_rpm: high, model_rpm: high, model_tpm: high },
  },
  /** The default limits of a shop, and in addition a limit on the model. */
  defaults: {
    ...{ user_rpm: 60, user_tpm: 100_000, token_rpm: 60, token_tpm: 100_000 },
    ...{ ip_rpm: 600, model_rpm: high, model_tpm: high },
  },
} as const satisfies Record<string, Limits>;
export type Mix = keyof typeof mixes;

export const about = `${users.toLocaleString('en')} users by Zipf's law (s = 1), a token each, ${addresses.toLocaleString('en')} /24, ${models.length} models`;
