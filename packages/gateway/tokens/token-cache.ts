import type { ApiToken, TokenRefusal } from './api-token.ts';
import { apiTokenOf, type FoundToken } from './api-token-store.ts';

/** A secret that was looked up, whatever came out. */
export type CachedToken = {
  readonly token: ApiToken;
  readonly isRevoked: boolean;
  /** Of its account. */
  readonly isActive: boolean;
  /** ms until which the secret before the last rotation is good; null for the present one. */
  readonly graceUntil: number | null;
  /** ms of the last use that is written or on its way. */
  usedAt: number;
};

export function cachedOf(row: FoundToken, isActive: boolean): CachedToken {
  const token = apiTokenOf(row);
  return {
    token,
    isRevoked: row.revoked_at !== null,
    isActive,
    graceUntil: row.is_previous ? (row.previous_until?.getTime() ?? 0) : null,
    usedAt: row.last_used_at?.getTime() ?? 0,
  };
}

/** Why not, or null. Asked at every use: time alone ends tokens. */
export function refusalOf({ token, isRevoked, isActive, graceUntil }: CachedToken, now: number): TokenRefusal | null {
  if (isRevoked || (graceUntil !== null && graceUntil <= now)) return 'revoked';
  if (token.expiresAt !== null && token.expiresAt <= now) return 'expired';
  return isActive ? null : 'disabled';
}

export type TokenCache = {
  get(digest: string): CachedToken | undefined;
  put(digest: string, entry: CachedToken): void;
  forget(of: { tokens?: readonly number[]; users?: readonly number[] }): void;
  readonly size: number;
};

/** By digest of the secret, with the digests of each token and user beside it. Beyond `limit` the oldest goes, and is looked up again. */
export function openTokenCache(limit: number): TokenCache {
  const entries = new Map<string, CachedToken>();
  const ofToken = new Map<number, Set<string>>();
  const ofUser = new Map<number, Set<string>>();

  const link = (index: Map<number, Set<string>>, id: number, digest: string) => {
    const digests = index.get(id);
    if (digests) digests.add(digest);
    else index.set(id, new Set([digest]));
  };
  const unlink = (index: Map<number, Set<string>>, id: number, digest: string) => {
    const digests = index.get(id);
    digests?.delete(digest);
    if (digests?.size === 0) index.delete(id);
  };
  const remove = (digest: string) => {
    const entry = entries.get(digest);
    if (!entry) return;
    entries.delete(digest);
    unlink(ofToken, entry.token.id, digest);
    unlink(ofUser, entry.token.userId, digest);
  };

  return {
    get: (digest) => entries.get(digest),
    put(digest, entry) {
      remove(digest);
      if (entries.size >= limit) remove(entries.keys().next().value!);
      entries.set(digest, entry);
      link(ofToken, entry.token.id, digest);
      link(ofUser, entry.token.userId, digest);
    },
    forget({ tokens = [], users = [] }) {
      for (const id of tokens) for (const digest of [...(ofToken.get(id) ?? [])]) remove(digest);
      for (const id of users) for (const digest of [...(ofUser.get(id) ?? [])]) remove(digest);
    },
    get size() {
      return entries.size;
    },
  };
}
