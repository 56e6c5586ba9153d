import { serviceErrors } from '@tradepost/core';
import { activeShoppers, onShopperTokensEnded, shoppersEndedSince } from '@tradepost/identity';
import { groupCommit, lostConnection } from '@tradepost/postgres';
import { keepFresh, type Runtime } from '@tradepost/runtime';
import { type ApiToken, digestOf, isSecret, type TokenRefusal } from './api-token.ts';
import { selectChangedSince, selectTokensByDigest, writeLastUsed } from './api-token-store.ts';
import { type ChangeTokens, changeTokens } from './change-tokens.ts';
import { type CachedToken, cachedOf, openTokenCache, refusalOf } from './token-cache.ts';

const channel = 'gateway.tokens';
/** Changes are read again for so long: transactions do not end in the order of their timestamps. */
const overlapMs = 60_000;
/** About 600 bytes each. */
const cacheLimit = 50_000;
/** Secrets that are nobody's, apart from the others: whoever invents some must not push good ones out. */
const unknownLimit = 10_000;
const unknownMs = 5_000;
const flushMs = 5_000;
/** `last_used_at` is written at most so often a token. */
const usedEveryMs = 60_000;
/** A message of PostgreSQL holds 8,000 bytes. */
const idsPerMessage = 300;

type Forgotten = { tokens?: readonly number[]; users?: readonly number[] };

export type ApiTokens = ChangeTokens & {
  /**
   * The token of a secret, or why not. Synchronous for one seen before, so that the hot path awaits nothing. `mayLookUp` is asked
   * before the database is; where it says no the answer is `unknown`. Rejects with 503 when this process has heard nothing of
   * changed tokens for longer than the bound and the database does not answer.
   */
  verify(secret: string, mayLookUp?: () => boolean): ApiToken | TokenRefusal | Promise<ApiToken | TokenRefusal>;
  close(): Promise<void>;
};

/**
 * API tokens as they are in force: looked up once, then kept until something about them changes. That is heard of from the other
 * instances at once, and read from the database within the bound of `keepFresh`.
 */
export async function openApiTokens(runtime: Runtime): Promise<ApiTokens> {
  const { sql, control, events, log } = runtime;
  const cache = openTokenCache(cacheLimit);
  /** Digest to the moment (`performance.now`) until which it is taken for unknown. */
  const unknown = new Map<string, number>();
  const lookups = new Map<string, Promise<ApiToken | TokenRefusal>>();
  const used = new Map<number, number>();
  /** Counts what was forgotten: rows that were read before must not be kept. */
  let changes = 0;
  let readFrom = runtime.now();
  /** Changes within the overlap, and when they were last read (`performance.now`). */
  const known = new Map<string, number>();

  const forget = (of: Forgotten) => {
    changes += 1;
    cache.forget(of);
  };

  const judge = (entry: CachedToken): ApiToken | TokenRefusal => {
    const now = runtime.now().getTime();
    const refusal = refusalOf(entry, now);
    if (refusal) return refusal;
    if (now - entry.usedAt >= usedEveryMs) {
      entry.usedAt = now;
      used.set(entry.token.id, now);
    }
    return entry.token;
  };

  const rememberUnknown = (digest: string) => {
    if (unknown.size >= unknownLimit) unknown.delete(unknown.keys().next().value!);
    unknown.set(digest, performance.now() + unknownMs);
  };

  async function read(digests: readonly string[]): Promise<(CachedToken | null)[]> {
    // Read again when something has changed meanwhile; whoever changes tokens all the time gets what was read last, not kept.
    for (let attempt = 1; ; attempt += 1) {
      const before = changes;
      const rows = await selectTokensByDigest(sql, digests);
      const active = await activeShoppers(sql, [...new Set(rows.map((row) => row.user_id))]);
      if (before !== changes && attempt < 3) continue;
      const found = new Map(rows.map((row) => [row.digest, cachedOf(row, active.has(row.user_id))]));
      if (before === changes) for (const [digest, entry] of found) cache.put(digest, entry);
      return digests.map((digest) => found.get(digest) ?? null);
    }
  }
  const lookUp = groupCommit((digests: readonly string[]) =>
    read(digests).catch((error: unknown) => {
      throw lostConnection(error) ? Object.assign(serviceErrors.busy(), { cause: error }) : error;
    }),
  );

  const fetchToken = (digest: string): Promise<ApiToken | TokenRefusal> => {
    const running = lookups.get(digest);
    if (running) return running;
    const found = lookUp(digest)
      .then((entry) => {
        if (entry) return judge(entry);
        rememberUnknown(digest);
        return 'unknown' as const;
      })
      .finally(() => lookups.delete(digest));
    lookups.set(digest, found);
    return found;
  };

  /** Whether it has not been seen before. */
  const isNews = (change: string): boolean => {
    const isNew = !known.has(change);
    known.set(change, performance.now());
    return isNew;
  };

  async function readChanges(): Promise<void> {
    const since = new Date(readFrom.getTime() - overlapMs);
    const { at, tokens, users } = await selectChangedSince(control, since);
    const ended = await shoppersEndedSince(control, since);
    readFrom = at;
    const seenBefore = performance.now();
    const changed = {
      tokens: tokens.filter((each) => isNews(`token ${each.id} ${each.version}`)).map(({ id }) => id),
      users: [
        ...users.filter((each) => isNews(`limits ${each.id} ${each.version}`)),
        ...ended.filter((each) => isNews(`ended ${each.id} ${each.generation}`)),
      ].map(({ id }) => id),
    };
    for (const [change, seen] of known) if (seen < seenBefore) known.delete(change);
    if (changed.tokens.length > 0 || changed.users.length > 0) forget(changed);
  }

  async function flushUsed(): Promise<void> {
    if (used.size === 0) return;
    const rows = [...used].map(([id, at]) => ({ id, at: new Date(at) }));
    used.clear();
    await writeLastUsed(sql, rows, usedEveryMs / 1000 - 10).catch((error: unknown) => {
      for (const { id, at } of rows) if (!used.has(id)) used.set(id, at.getTime());
      throw error;
    });
  }

  const timer = setInterval(() => {
    flushUsed().catch((error: unknown) => log.warn({ err: error }, 'the last use of API tokens could not be written'));
  }, flushMs);
  timer.unref();

  const subscriptions = await Promise.all([
    events.subscribe(channel, (message) => {
      const [kind, list = ''] = message.split(' ');
      const ids = list.split(',').map(Number);
      if (kind === 'tokens' || kind === 'users') forget({ [kind]: ids });
    }),
    onShopperTokensEnded(events, (users) => forget({ users })),
  ]);
  // After the subscriptions, so that nothing falls between the two.
  const fresh = await keepFresh({ read: readChanges, what: 'changed API tokens', log });

  /** Here at once, elsewhere by message. */
  async function tell(of: Forgotten): Promise<void> {
    forget(of);
    for (const kind of ['tokens', 'users'] as const) {
      const ids = of[kind] ?? [];
      for (let i = 0; i < ids.length; i += idsPerMessage)
        await events
          .publish(channel, `${kind} ${ids.slice(i, i + idsPerMessage).join(',')}`)
          .catch((error: unknown) => {
            log.warn({ err: error }, 'other instances learn of changed API tokens at their next reading');
          });
    }
  }

  const verify: ApiTokens['verify'] = (secret, mayLookUp) => {
    if (!isSecret(secret)) return 'unknown';
    const digest = digestOf(secret);
    const entry = cache.get(digest);
    if (entry) return fresh.isFresh() ? judge(entry) : fresh.renew().then(() => verify(secret, mayLookUp));
    const until = unknown.get(digest);
    if (until !== undefined) {
      if (until > performance.now()) return 'unknown';
      unknown.delete(digest);
    }
    return mayLookUp && !mayLookUp() ? 'unknown' : fetchToken(digest);
  };

  return {
    ...changeTokens(runtime, tell),
    verify,
    async close() {
      clearInterval(timer);
      fresh.close();
      await Promise.all(subscriptions.map((end) => end()));
      await lookUp.drain();
      await flushUsed().catch((error: unknown) => log.warn({ err: error }, 'the last use of API tokens is lost'));
    },
  };
}
