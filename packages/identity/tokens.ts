import { createSecretKey, hash, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import type { Caller } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import {
  addSigningKey,
  insertRevokedToken,
  type SigningKey,
  selectRevokedSince,
  selectSigningKeys,
} from './identity-store.ts';

const claims = z.object({
  user_id: z.int().min(1),
  role: z.enum(['user', 'admin']),
  perms: z.array(z.string()).default([]),
  jti: z.string().min(1),
  iat: z.number(),
  exp: z.number(),
});

const channel = 'identity.revoked';
const pollMs = 30_000;
/** Verified tokens kept; beyond it the oldest go and are verified again. About 400 bytes each. */
const cacheLimit = 50_000;

export type Tokens = {
  /** A JWT (HS256) that lives for the configured hours. */
  issue(caller: Pick<Caller, 'role' | 'id' | 'perms'>): Promise<string>;
  /** The caller of a valid token, else null. Synchronous for a token seen before. */
  verify(token: string): Caller | null | Promise<Caller | null>;
  /** Ends one token on every instance: here at once, elsewhere by message, at the latest at the next poll. */
  revoke(caller: Caller): Promise<void>;
  close(): Promise<void>;
};

type Keys = { signing: { kid: string; key: KeyObject }; all: Map<string, KeyObject> };

function keysOf(rows: readonly SigningKey[]): Keys {
  const all = new Map(rows.map((row) => [row.kid, createSecretKey(row.secret)]));
  const newest = rows[rows.length - 1]!;
  return { signing: { kid: newest.kid, key: all.get(newest.kid)! }, all };
}

export async function openTokens(runtime: Runtime): Promise<Tokens> {
  const { sql, store, log, config } = runtime;
  await addSigningKey(sql, randomUUID(), randomBytes(32), { onlyFirst: true });
  let keys = keysOf(await selectSigningKeys(sql));
  const verified = new Map<string, Caller>();
  /** jti to the end of the token's life (Unix seconds), after which nobody needs to know. */
  const revoked = new Map<string, number>();
  let pollFrom = new Date(0);

  const poll = async () => {
    // A minute of overlap: transactions do not end in the order of their timestamps.
    const { at, revoked: rows } = await selectRevokedSince(sql, new Date(pollFrom.getTime() - 60_000));
    pollFrom = at;
    for (const row of rows) revoked.set(row.jti, row.expires_at.getTime() / 1000);
    const now = runtime.now().getTime() / 1000;
    for (const [jti, expiresAt] of revoked) if (expiresAt < now) revoked.delete(jti);
    keys = keysOf(await selectSigningKeys(sql));
  };
  await poll();
  const timer = setInterval(() => {
    poll().catch((error: unknown) => log.warn({ err: error }, 'revoked tokens could not be read again'));
  }, pollMs);
  timer.unref();
  const unsubscribe = await store.subscribe(channel, (message) => {
    const [jti, expiresAt] = message.split(' ');
    if (jti) revoked.set(jti, Number(expiresAt));
  });

  const stillGood = (caller: Caller): boolean =>
    caller.expiresAt > runtime.now().getTime() / 1000 && !revoked.has(caller.jti);

  async function verifyFresh(token: string, digest: string): Promise<Caller | null> {
    try {
      const { kid } = decodeProtectedHeader(token);
      const key = kid ? keys.all.get(kid) : undefined;
      if (!key) return null;
      const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'], currentDate: runtime.now() });
      const claim = claims.parse(payload);
      const caller: Caller = Object.freeze({
        role: claim.role,
        id: claim.user_id,
        perms: claim.perms,
        jti: claim.jti,
        expiresAt: claim.exp,
      });
      if (!stillGood(caller)) return null;
      if (verified.size >= cacheLimit) verified.delete(verified.keys().next().value!);
      verified.set(digest, caller);
      return caller;
    } catch {
      // Whatever is wrong with it, it is not a token of ours.
      return null;
    }
  }

  return {
    async issue({ role, id, perms }) {
      const { kid, key } = keys.signing;
      const issuedAt = Math.trunc(runtime.now().getTime() / 1000);
      return new SignJWT({ user_id: id, role, ...(perms.length > 0 ? { perms } : {}) })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid })
        .setJti(randomUUID())
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + config.tokenHours * 3600)
        .sign(key);
    },
    verify(token) {
      const digest = hash('sha256', token, 'base64');
      const caller = verified.get(digest);
      if (!caller) return verifyFresh(token, digest);
      if (stillGood(caller)) return caller;
      verified.delete(digest);
      return null;
    },
    async revoke(caller) {
      await insertRevokedToken(sql, caller.jti, new Date(caller.expiresAt * 1000));
      revoked.set(caller.jti, caller.expiresAt);
      // Not waited for: a store that hangs must not hang a logout, the poll is the net.
      store.publish(channel, `${caller.jti} ${caller.expiresAt}`).catch((error: unknown) => {
        log.warn({ err: error }, 'other instances see the logout at their next poll');
      });
    },
    async close() {
      clearInterval(timer);
      await unsubscribe();
    },
  };
}
