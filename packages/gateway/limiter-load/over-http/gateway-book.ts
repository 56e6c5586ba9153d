import { type Dimension, dimensions, type Limits } from '@tradepost/rate-limiter';
import { isOfRequests, kindOf } from '../findings.ts';
import { openIntervalLog } from './interval-log.ts';

/** What an administrator is told of one API token. */
export type TokenFacts = {
  readonly userId: number;
  readonly limits: Pick<Limits, 'user_rpm' | 'user_tpm' | 'token_rpm' | 'token_tpm'>;
};
export type GatewayFacts = {
  /** By place of the token; undefined where it was not found. */
  readonly tokens: readonly (TokenFacts | undefined)[];
  readonly ip_rpm: number;
  readonly model: { readonly rpm: number; readonly tpm: number } | null;
};

export type Excess = {
  readonly dimension: Dimension;
  readonly key: string;
  readonly count: number;
  readonly limit: number;
};

/** What was admitted to each key that a client knows of, and the limits as far as they are known. */
export type GatewayBook = {
  admitted(token: number, sent: number, received: number, tokens: number): void;
  /** A refusal names a dimension and its limit. */
  learned(token: number, dimension: Dimension, limit: number): void;
  /** Certain at this moment. */
  excesses(): Excess[];
  readonly verified: readonly Dimension[];
  readonly notVerified: readonly Dimension[];
  /** Of those not verified: of how many keys the limit is known all the same. */
  readonly partly: readonly { readonly dimension: Dimension; readonly known: number; readonly of: number }[];
};

type Entry = { name: string; log: ReturnType<typeof openIntervalLog>; tokens: readonly number[] };

/**
 * `given`: limits the user of the command has told. Requests are counted per token, per user (per token where it is not known
 * whose they are: that is a part of the user's), and all together for the address and the model.
 */
export function openGatewayBook(options: {
  /** Beginnings of the secrets. */
  tokenNames: readonly string[];
  model: string | null;
  given: Partial<Limits>;
  facts: GatewayFacts | null;
  windowMs: number;
}): GatewayBook {
  const { tokenNames, model, given, facts, windowMs } = options;
  const all = tokenNames.map((_, token) => token);
  const entry = (name: string, tokens: readonly number[]): Entry => ({ name, log: openIntervalLog(windowMs), tokens });
  const byToken = tokenNames.map((name, token) => entry(`token:${name}`, [token]));
  const users = Map.groupBy(all, (token) => {
    const user = facts?.tokens[token]?.userId;
    return user === undefined ? `token:${tokenNames[token]}` : `user:${user}`;
  });
  const entries = {
    token: byToken,
    user: [...users].map(([name, tokens]) => entry(name, tokens)),
    ip: [entry('ip:(this machine)', all)],
    model: model === null ? [] : [entry(`model:${model}`, all)],
  };
  const shared = [...entries.ip, ...entries.model];
  const ofToken = byToken.map((own) => [own, ...shared]);
  for (const user of entries.user) for (const token of user.tokens) ofToken[token]!.push(user);
  const used = new Set<number>();
  /** By dimension and token: the highest that a refusal has named. */
  const heard = new Map<string, number>();
  // Asking for the list of models costs no tokens and names no model.
  const applicable = dimensions.filter(
    (dimension) => model !== null || (isOfRequests(dimension) && kindOf(dimension) !== 'model'),
  );

  const factOf = (dimension: Dimension, token: number): number | undefined => {
    if (!facts) return undefined;
    if (dimension === 'ip_rpm') return facts.ip_rpm;
    if (dimension === 'model_rpm') return facts.model?.rpm;
    if (dimension === 'model_tpm') return facts.model?.tpm;
    return facts.tokens[token]?.limits[dimension];
  };
  /** 0: unlimited; undefined: not known. */
  const limitOf = (dimension: Dimension, { tokens }: Entry): number | undefined => {
    if (given[dimension] !== undefined) return given[dimension];
    const fact = factOf(dimension, tokens[0]!);
    if (fact !== undefined) return fact;
    const learned = tokens.flatMap((token) => heard.get(`${dimension} ${token}`) ?? []);
    return learned.length > 0 ? Math.max(...learned) : undefined;
  };
  const inUse = (dimension: Dimension) =>
    entries[kindOf(dimension)].filter(({ tokens }) => tokens.some((token) => used.has(token)));
  const known = (dimension: Dimension) =>
    entries[kindOf(dimension)].filter((of) => limitOf(dimension, of) !== undefined).length;
  const isKnown = (dimension: Dimension) => known(dimension) === entries[kindOf(dimension)].length;

  return {
    admitted(token, sent, received, tokens) {
      used.add(token);
      for (const { log } of ofToken[token]!) log.admitted(sent, received, tokens);
    },
    learned(token, dimension, limit) {
      const key = `${dimension} ${token}`;
      heard.set(key, Math.max(limit, heard.get(key) ?? 0));
    },
    excesses() {
      return applicable.flatMap((dimension) =>
        inUse(dimension).flatMap((of) => {
          const limit = limitOf(dimension, of) ?? 0;
          const count = isOfRequests(dimension) ? of.log.maxRequests : of.log.maxTokens;
          return limit > 0 && count > limit ? [{ dimension, key: of.name, count, limit }] : [];
        }),
      );
    },
    get verified() {
      return applicable.filter(isKnown);
    },
    get notVerified() {
      return applicable.filter((dimension) => !isKnown(dimension));
    },
    get partly() {
      return applicable
        .map((dimension) => ({ dimension, known: known(dimension), of: entries[kindOf(dimension)].length }))
        .filter(({ known: some, of }) => some > 0 && some < of);
    },
  };
}
