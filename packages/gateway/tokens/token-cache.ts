import type { ApiToken, TokenRefusal } from './api-token.ts';
import { apiTokenOf, type FoundToken } from './api-token-store.ts';
import type { Changed } from './token-changes.ts';

/** A token as it was read from the database, valid or not. */
export type CachedToken = {
  readonly token: ApiToken;
  readonly isRevoked: boolean;
  /** Whether its account is active. */
  readonly isActive: boolean;
  /** Unix ms until which the secret before the last rotation is valid; null for the current secret. */
  readonly graceUntil: number | null;
  /** Unix ms of the last use that is written, or queued to be written. */
  usedAt: number;
};

export function cachedOf(row: FoundToken, isActive: boolean): CachedToken {
  return {
    token: apiTokenOf(row),
    isRevoked: row.revoked_at !== null,
    isActive,
    graceUntil: row.is_previous ? (row.previous_until?.getTime() ?? 0) : null,
    usedAt: row.last_used_at?.getTime() ?? 0,
  };
}

/** Why a token is refused now; null when it is valid. Checked at every use, because tokens expire without a change. */
export function refusalOf({ token, isRevoked, isActive, graceUntil }: CachedToken, now: number): TokenRefusal | null {
  if (isRevoked || (graceUntil !== null && graceUntil <= now)) return 'revoked';
  if (token.expiresAt !== null && token.expiresAt <= now) return 'expired';
  return isActive ? null : 'disabled';
}

export type TokenCache = {
  get(digest: string): CachedToken | undefined;
  put(digest: string, entry: CachedToken): void;
  /** Removes the entries of changed tokens, and all entries of changed users. */
  invalidate(changed: Changed): void;
  readonly size: number;
};

type Index = Map<number, Set<string>>;

function link(index: Index, id: number, digest: string): void {
  const digests = index.get(id);
  if (digests) digests.add(digest);
  else index.set(id, new Set([digest]));
}

function unlink(index: Index, id: number, digest: string): void {
  const digests = index.get(id);
  digests?.delete(digest);
  if (digests?.size === 0) index.delete(id);
}

/** Tokens by the digest of a secret, with an index by token and by user. Beyond `max` the oldest entry is evicted. */
export function openTokenCache(max: number): TokenCache {
  const entries = new Map<string, CachedToken>();
  const digestsOfToken: Index = new Map();
  const digestsOfUser: Index = new Map();

  const remove = (digest: string) => {
    const entry = entries.get(digest);
    if (!entry) return;
    entries.delete(digest);
    unlink(digestsOfToken, entry.token.id, digest);
    unlink(digestsOfUser, entry.token.userId, digest);
  };

  return {
    get: (digest) => entries.get(digest),
    put(digest, entry) {
      remove(digest);
      if (entries.size >= max) remove(entries.keys().next().value!);
      entries.set(digest, entry);
      link(digestsOfToken, entry.token.id, digest);
      link(digestsOfUser, entry.token.userId, digest);
    },
    invalidate({ tokens = [], users = [] }) {
      for (const id of tokens) for (const digest of [...(digestsOfToken.get(id) ?? [])]) remove(digest);
      for (const id of users) for (const digest of [...(digestsOfUser.get(id) ?? [])]) remove(digest);
    },
    get size() {
      return entries.size;
    },
  };
}
