import { hash, randomBytes, randomUUID } from 'node:crypto';
import { serviceErrors } from '@tradepost/core';
import type { Caller } from '@tradepost/http';
import { databaseUnavailable } from '@tradepost/postgres';
import { keepFresh, type Runtime } from '@tradepost/runtime';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { EndedTokens } from './ended-tokens.ts';
import { SigningKeys } from './signing-keys.ts';
import { channels, floorsMessage, floorsOf, revokedMessage, revokedOf } from './token-events.ts';
import {
  type AccountRole,
  addSigningKey,
  deleteOldSigningKeys,
  type Floor,
  insertRevokedToken,
  keepSigningKey,
  longestTokenHours,
  raiseFloors,
  selectSigningKeys,
} from './token-store.ts';

export const tokenClaims = z.object({
  user_id: z.int().min(1),
  role: z.enum(['user', 'admin']),
  perms: z.array(z.string()).default([]),
  jti: z.string().min(1),
  /** The generation. Absent while the account has no floor. */
  gen: z.int().min(0).default(0),
  iat: z.number(),
  exp: z.number(),
});

/** The largest difference between the clocks of two instances. A token that was issued later than that is refused. */
const clockSkewSeconds = 300;
/** Verified tokens that are cached, about 400 bytes each. The least recently used ones are dropped and verified again. */
const cacheLimit = 50_000;
/** A notification of PostgreSQL has at most 8,000 bytes. */
const floorsPerMessage = 100;

export type Tokens = {
  /**
   * Signs a JWT (HS256). It lives for `hours`, else for the configured hours. The caller reads `generation` together with status
   * and role of the account, so a change in between voids the token. Default: the generation that this process knows.
   */
  issue(
    caller: Pick<Caller, 'role' | 'id' | 'perms'> & { generation?: number },
    options?: { hours?: number },
  ): Promise<string>;
  /**
   * Returns the caller of a valid token, else null. Synchronous for a cached token. Rejects with 503 when this process has not
   * read the ended tokens for longer than the bound, and the database does not answer.
   */
  verify(token: string): Caller | null | Promise<Caller | null>;
  /** Revokes one token: here at once, on other instances by notification; within the bound when the notification is lost. */
  revoke(token: Pick<Caller, 'jti' | 'expiresAt'>): Promise<void>;
  /** Ends all tokens of these accounts in the same way. */
  endAll(role: AccountRole, ids: readonly number[]): Promise<void>;
  /** Applies and publishes floors that a transaction has raised. Called after its commit. */
  announce(floors: readonly Floor[]): void;
  /** Creates a new signing key. Tokens of older keys stay valid, except with `revokeOld`. */
  rotate(options: { revokeOld: boolean }): Promise<{ kid: string; revoked: number }>;
  close(): Promise<void>;
};

type Verified = { caller: Caller; kid: string; generation: number };

/** Signs the token of a caller with the newest key. */
async function signToken(
  { sql, config, now }: { sql: Runtime['sql']; config: Runtime['config']; now: Date },
  { kid, key }: SigningKeys['signing'],
  of: { role: AccountRole; id: number; perms: readonly string[]; generation: number },
  hours: number | undefined,
): Promise<string> {
  const { role, id, perms, generation } = of;
  const issuedAt = Math.trunc(now.getTime() / 1000);
  const lifetime = Math.min(hours ?? config.tokenHours, longestTokenHours);
  const expiresAt = issuedAt + Math.round(lifetime * 3600);
  if (lifetime > config.tokenHours) await keepSigningKey(sql, kid, new Date(expiresAt * 1000));
  const claims = { ...(perms.length > 0 ? { perms } : {}), ...(generation > 0 ? { gen: generation } : {}) };
  return new SignJWT({ user_id: id, role, ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid })
    .setJti(randomUUID())
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(key);
}

/** Verifies tokens with the keys and the ended tokens that this process knows. Caches valid tokens. */
class TokenVerifier {
  readonly #keys: SigningKeys;
  readonly #ended: EndedTokens;
  readonly #now: () => Date;
  readonly #verified = new LRUCache<string, Verified>({ max: cacheLimit });

  constructor(keys: SigningKeys, ended: EndedTokens, now: () => Date) {
    this.#keys = keys;
    this.#ended = ended;
    this.#now = now;
  }

  verify(token: string): Caller | null | Promise<Caller | null> {
    const digest = hash('sha256', token, 'base64');
    const entry = this.#verified.get(digest);
    if (!entry) return this.#verifyFirst(token, digest);
    if (this.#isGood(entry)) return entry.caller;
    this.#verified.delete(digest);
    return null;
  }

  #isGood({ caller, kid, generation }: Verified): boolean {
    return (
      caller.expiresAt > this.#now().getTime() / 1000 &&
      generation >= this.#ended.generationOf(caller.role, caller.id) &&
      this.#keys.has(kid) &&
      !this.#ended.isRevoked(caller.jti)
    );
  }

  async #verifyFirst(token: string, digest: string): Promise<Caller | null> {
    try {
      const { kid } = decodeProtectedHeader(token);
      const key = kid ? await this.#keys.find(kid) : undefined;
      if (!kid || !key) return null;
      const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'], currentDate: this.#now() });
      const { role, user_id: id, perms, jti, iat, exp: expiresAt, gen: generation } = tokenClaims.parse(payload);
      if (iat > this.#now().getTime() / 1000 + clockSkewSeconds) return null;
      const caller: Caller = Object.freeze({ role, id, perms, jti, expiresAt });
      const entry = { caller, kid, generation };
      if (!this.#isGood(entry)) return null;
      this.#verified.set(digest, entry);
      return caller;
    } catch (error) {
      if (databaseUnavailable(error)) throw Object.assign(serviceErrors.busy(), { cause: error });
      // All other errors mean that this is not a token of the shop.
      return null;
    }
  }
}

export async function openTokens(runtime: Runtime): Promise<Tokens> {
  const { sql, control, events, log, config } = runtime;
  await addSigningKey(sql, randomUUID(), randomBytes(32), { onlyFirst: true });
  const keys = new SigningKeys(control, await selectSigningKeys(sql));
  const ended = new EndedTokens(control);
  const verifier = new TokenVerifier(keys, ended, () => runtime.now());

  const unsubscribe = await Promise.all([
    events.subscribe(channels.revoked, (message) => {
      const revoked = revokedOf(message);
      if (revoked) ended.revoke(revoked.jti, revoked.expiresAt);
    }),
    events.subscribe(channels.floors, (message) => {
      for (const floor of floorsOf(message)) ended.raise(floor);
    }),
    events.subscribe(channels.keys, () => {
      keys
        .read()
        .catch((error: unknown) =>
          log.warn({ err: error }, 'the signing keys could not be read; this process keeps the keys that it has'),
        );
    }),
  ]);
  const readAll = async () => {
    await ended.read(runtime.now());
    await keys.read();
  };
  // The first read follows the subscriptions, so that no change is missed.
  const fresh = await keepFresh({ read: readAll, what: 'signing keys and ended tokens', log });
  const publish = (channel: string, message: string) =>
    events.publish(channel, message).catch((error: unknown) => {
      log.warn(
        { err: error },
        'a notification about tokens was not sent; other instances learn of the change at their next read',
      );
    });

  const announce = (raised: readonly Floor[]) => {
    for (const floor of raised) ended.raise(floor);
    for (let i = 0; i < raised.length; i += floorsPerMessage) {
      void publish(channels.floors, floorsMessage(raised.slice(i, i + floorsPerMessage)));
    }
  };

  return {
    issue({ role, id, perms, generation = ended.generationOf(role, id) }, { hours } = {}) {
      return signToken({ sql, config, now: runtime.now() }, keys.signing, { role, id, perms, generation }, hours);
    },
    verify: (token) => (fresh.isFresh() ? verifier.verify(token) : fresh.renew().then(() => verifier.verify(token))),
    async revoke({ jti, expiresAt }) {
      await insertRevokedToken(sql, jti, new Date(expiresAt * 1000));
      ended.revoke(jti, expiresAt);
      await publish(channels.revoked, revokedMessage({ jti, expiresAt }));
    },
    async endAll(role, ids) {
      announce(await raiseFloors(sql, role, ids));
    },
    announce,
    async rotate({ revokeOld }) {
      const kid = randomUUID();
      await addSigningKey(sql, kid, randomBytes(32));
      const revoked = revokeOld ? await deleteOldSigningKeys(sql) : 0;
      await keys.read();
      await publish(channels.keys, kid);
      return { kid, revoked };
    },
    async close() {
      fresh.close();
      await Promise.all(unsubscribe.map((unsubscribeOne) => unsubscribeOne()));
    },
  };
}
