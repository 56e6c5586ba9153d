import { serviceErrors } from '@tradepost/core';
import { activeShoppers, onShopperTokensEnded } from '@tradepost/identity';
import { databaseUnavailable, groupCommit, type Sql } from '@tradepost/postgres';
import { keepFresh, type Runtime } from '@tradepost/runtime';
import { LRUCache } from 'lru-cache';
import { type ApiToken, digestOf, isSecret, type TokenRefusal } from './api-token.ts';
import { selectTokensByDigest } from './api-token-store.ts';
import { type ChangeTokens, changeTokens } from './change-tokens.ts';
import { lastUseIntervalMs, openLastUses } from './last-uses.ts';
import { type CachedToken, cachedOf, openTokenCache, refusalOf, type TokenCache } from './token-cache.ts';
import { type Changed, onTokensChanged, openChangeReader, publishChanges } from './token-changes.ts';

/** About 600 bytes each. */
const maxCached = 50_000;
/** Digests that no token has are kept apart, so that invented secrets do not evict valid ones. */
const maxUnknown = 10_000;
const unknownMs = 5_000;

export type ApiTokens = ChangeTokens & {
  /**
   * Returns the token of a secret, or the reason why it is refused. Synchronous for a cached token, so that the hot path
   * awaits nothing. `mayQuery` is called before the database is queried; when it returns false, the result is `unknown`.
   * Rejects with 503 when the cache may be stale and the database does not answer.
   */
  verify(secret: string, mayQuery?: () => boolean): ApiToken | TokenRefusal | Promise<ApiToken | TokenRefusal>;
  close(): Promise<void>;
};

type Reading = {
  readonly sql: Sql;
  readonly cache: TokenCache;
  /** Number of invalidations so far. Rows that were read before one must not be cached. */
  readonly invalidations: () => number;
};

const maxReads = 3;

/** Reads tokens by the digests of their secrets, and caches them. null for a digest that no token has. */
async function readTokens(
  { sql, cache, invalidations }: Reading,
  digests: readonly string[],
): Promise<(CachedToken | null)[]> {
  // A token that changes during the read is read again. When it also changes during the last read, the rows are
  // returned and not cached.
  for (let reads = 1; ; reads += 1) {
    const before = invalidations();
    const rows = await selectTokensByDigest(sql, digests);
    const active = await activeShoppers(sql, [...new Set(rows.map((row) => row.user_id))]);
    if (before !== invalidations() && reads < maxReads) continue;
    const found = new Map(rows.map((row) => [row.digest, cachedOf(row, active.has(row.user_id))]));
    if (before === invalidations()) for (const [digest, entry] of found) cache.put(digest, entry);
    return digests.map((digest) => found.get(digest) ?? null);
  }
}

/**
 * Opens the API tokens. A token is read once and cached until it changes. Other instances announce changes at once. When an
 * announcement is lost, the change is read from the database within the bound of `keepFresh`.
 */
export async function openApiTokens(runtime: Runtime): Promise<ApiTokens> {
  const { sql, events, log } = runtime;
  const cache = openTokenCache(maxCached);
  const unknown = new LRUCache<string, true>({ max: maxUnknown, ttl: unknownMs });
  /** By digest: the read that is running. */
  const reads = new Map<string, Promise<ApiToken | TokenRefusal>>();
  const lastUses = openLastUses(sql, log);
  let invalidations = 0;

  const invalidate = (changed: Changed) => {
    invalidations += 1;
    cache.invalidate(changed);
  };

  const use = (entry: CachedToken): ApiToken | TokenRefusal => {
    const now = runtime.now().getTime();
    const refusal = refusalOf(entry, now);
    if (refusal) return refusal;
    if (now - entry.usedAt >= lastUseIntervalMs) {
      entry.usedAt = now;
      lastUses.note(entry.token.id, now);
    }
    return entry.token;
  };

  const readBatch = groupCommit((digests: readonly string[]) =>
    readTokens({ sql, cache, invalidations: () => invalidations }, digests).catch((error: unknown) => {
      throw databaseUnavailable(error) ? Object.assign(serviceErrors.busy(), { cause: error }) : error;
    }),
  );

  const read = (digest: string): Promise<ApiToken | TokenRefusal> => {
    const running = reads.get(digest);
    if (running) return running;
    const found = readBatch(digest)
      .then((entry) => {
        if (entry) return use(entry);
        unknown.set(digest, true);
        return 'unknown' as const;
      })
      .finally(() => reads.delete(digest));
    reads.set(digest, found);
    return found;
  };

  const readChanges = openChangeReader(runtime, invalidate);
  const subscriptions = await Promise.all([
    onTokensChanged(runtime, invalidate),
    onShopperTokensEnded(events, (users) => invalidate({ users })),
  ]);
  // Opened after the subscriptions, so that no change is missed between the two.
  const fresh = await keepFresh({ read: readChanges, what: 'changed API tokens', log });

  /** Invalidates changed tokens: here at once, on other instances by message. */
  async function notify(changed: Changed): Promise<void> {
    invalidate(changed);
    await publishChanges(runtime, changed);
  }

  const verify: ApiTokens['verify'] = (secret, mayQuery) => {
    if (!isSecret(secret)) return 'unknown';
    const digest = digestOf(secret);
    const entry = cache.get(digest);
    if (entry) return fresh.isFresh() ? use(entry) : fresh.renew().then(() => verify(secret, mayQuery));
    if (unknown.has(digest)) return 'unknown';
    return mayQuery && !mayQuery() ? 'unknown' : read(digest);
  };

  return {
    ...changeTokens(runtime, notify),
    verify,
    async close() {
      lastUses.stop();
      fresh.close();
      await Promise.all(subscriptions.map((end) => end()));
      await readBatch.drain();
      await lastUses.flush().catch((error: unknown) => log.warn({ err: error }, 'the last use of API tokens is lost'));
    },
  };
}
