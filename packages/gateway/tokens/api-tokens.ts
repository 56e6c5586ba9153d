import { serviceErrors } from '@tradepost/core';
import { activeShoppers, onShopperTokensEnded } from '@tradepost/identity';
import { groupCommit, lostConnection, type Sql } from '@tradepost/postgres';
import { keepFresh, type Runtime } from '@tradepost/runtime';
import { type ApiToken, digestOf, isSecret, type TokenRefusal } from './api-token.ts';
import { selectTokensByDigest } from './api-token-store.ts';
import { type ChangeTokens, changeTokens } from './change-tokens.ts';
import { openLastUses, usedEveryMs } from './last-uses.ts';
import { type CachedToken, cachedOf, openTokenCache, refusalOf, type TokenCache } from './token-cache.ts';
import { type Changed, onTokensChanged, openChangeReader, publishChanges } from './token-changes.ts';

/** About 600 bytes each. */
const cacheLimit = 50_000;
/** Secrets that are nobody's, apart from the others: whoever invents some must not push good ones out. */
const unknownLimit = 10_000;
const unknownMs = 5_000;

export type ApiTokens = ChangeTokens & {
  /**
   * The token of a secret, or why not. Synchronous for one seen before, so that the hot path awaits nothing. `mayLookUp` is asked
   * before the database is; where it says no the answer is `unknown`. Rejects with 503 when this process has heard nothing of
   * changed tokens for longer than the bound and the database does not answer.
   */
  verify(secret: string, mayLookUp?: () => boolean): ApiToken | TokenRefusal | Promise<ApiToken | TokenRefusal>;
  close(): Promise<void>;
};

/** Digests that no token has. Such an answer is kept for a few seconds. */
class UnknownDigests {
  /** The moment (`performance.now`) until which a digest is taken for unknown. */
  readonly #until = new Map<string, number>();

  add(digest: string): void {
    if (this.#until.size >= unknownLimit) this.#until.delete(this.#until.keys().next().value!);
    this.#until.set(digest, performance.now() + unknownMs);
  }

  has(digest: string): boolean {
    const until = this.#until.get(digest);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    this.#until.delete(digest);
    return false;
  }
}

type Reading = {
  readonly sql: Sql;
  readonly cache: TokenCache;
  /** Counts the changes heard of: rows that were read before one must not be kept. */
  readonly changes: () => number;
};

/** Reads tokens by the digests of their secrets, and keeps them; null for an unknown one. */
async function readTokens(
  { sql, cache, changes }: Reading,
  digests: readonly string[],
): Promise<(CachedToken | null)[]> {
  // Reads again when something has changed meanwhile. When changes do not end, the last rows are answered and not kept.
  for (let attempt = 1; ; attempt += 1) {
    const before = changes();
    const rows = await selectTokensByDigest(sql, digests);
    const active = await activeShoppers(sql, [...new Set(rows.map((row) => row.user_id))]);
    if (before !== changes() && attempt < 3) continue;
    const found = new Map(rows.map((row) => [row.digest, cachedOf(row, active.has(row.user_id))]));
    if (before === changes()) for (const [digest, entry] of found) cache.put(digest, entry);
    return digests.map((digest) => found.get(digest) ?? null);
  }
}

/**
 * API tokens as they are in force: looked up once, then kept until something about them changes. That is heard of from the other
 * instances at once, and read from the database within the bound of `keepFresh`.
 */
export async function openApiTokens(runtime: Runtime): Promise<ApiTokens> {
  const { sql, events, log } = runtime;
  const cache = openTokenCache(cacheLimit);
  const unknown = new UnknownDigests();
  const lookups = new Map<string, Promise<ApiToken | TokenRefusal>>();
  const lastUses = openLastUses(sql, log);
  /** Counts what was forgotten: rows that were read before must not be kept. */
  let changes = 0;

  const forget = (of: Changed) => {
    changes += 1;
    cache.forget(of);
  };

  const judge = (entry: CachedToken): ApiToken | TokenRefusal => {
    const now = runtime.now().getTime();
    const refusal = refusalOf(entry, now);
    if (refusal) return refusal;
    if (now - entry.usedAt >= usedEveryMs) {
      entry.usedAt = now;
      lastUses.note(entry.token.id, now);
    }
    return entry.token;
  };

  const lookUp = groupCommit((digests: readonly string[]) =>
    readTokens({ sql, cache, changes: () => changes }, digests).catch((error: unknown) => {
      throw lostConnection(error) ? Object.assign(serviceErrors.busy(), { cause: error }) : error;
    }),
  );

  const fetchToken = (digest: string): Promise<ApiToken | TokenRefusal> => {
    const running = lookups.get(digest);
    if (running) return running;
    const found = lookUp(digest)
      .then((entry) => {
        if (entry) return judge(entry);
        unknown.add(digest);
        return 'unknown' as const;
      })
      .finally(() => lookups.delete(digest));
    lookups.set(digest, found);
    return found;
  };

  const readChanges = openChangeReader(runtime, forget);
  const subscriptions = await Promise.all([
    onTokensChanged(runtime, forget),
    onShopperTokensEnded(events, (users) => forget({ users })),
  ]);
  // After the subscriptions, so that nothing falls between the two.
  const fresh = await keepFresh({ read: readChanges, what: 'changed API tokens', log });

  /** Forgets what has changed: here at once, on other instances by message. */
  async function notify(of: Changed): Promise<void> {
    forget(of);
    await publishChanges(runtime, of);
  }

  const verify: ApiTokens['verify'] = (secret, mayLookUp) => {
    if (!isSecret(secret)) return 'unknown';
    const digest = digestOf(secret);
    const entry = cache.get(digest);
    if (entry) return fresh.isFresh() ? judge(entry) : fresh.renew().then(() => verify(secret, mayLookUp));
    if (unknown.has(digest)) return 'unknown';
    return mayLookUp && !mayLookUp() ? 'unknown' : fetchToken(digest);
  };

  return {
    ...changeTokens(runtime, notify),
    verify,
    async close() {
      lastUses.stop();
      fresh.close();
      await Promise.all(subscriptions.map((end) => end()));
      await lookUp.drain();
      await lastUses.flush().catch((error: unknown) => log.warn({ err: error }, 'the last use of API tokens is lost'));
    },
  };
}
