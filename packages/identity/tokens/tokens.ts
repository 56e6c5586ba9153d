import { createSecretKey, hash, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { serviceErrors } from '@tradepost/core';
import type { Caller } from '@tradepost/http';
import { lostConnection } from '@tradepost/postgres';
import { keepFresh, type Runtime } from '@tradepost/runtime';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { channels, floorsMessage, floorsOf } from './token-events.ts';
import {
  type AccountRole,
  addSigningKey,
  deleteOldSigningKeys,
  type Floor,
  insertRevokedToken,
  keepSigningKey,
  longestTokenHours,
  raiseFloors,
  type SigningKey,
  selectFloorsSince,
  selectRevokedSince,
  selectSigningKeys,
} from './token-store.ts';

export const tokenClaims = z.object({
  user_id: z.int().min(1),
  role: z.enum(['user', 'admin']),
  perms: z.array(z.string()).default([]),
  jti: z.string().min(1),
  /** Left out while all tokens of the account are good. */
  gen: z.int().min(0).default(0),
  iat: z.number(),
  exp: z.number(),
});

/** What the clocks of two instances may differ by: a token of a later time is nobody's. */
const clockSkewSeconds = 300;
/** Verified tokens kept; beyond it the oldest go and are verified again. About 400 bytes each. */
const cacheLimit = 50_000;
/** A token of an unknown key makes the keys be read again, at most so often: anybody can invent key ids. */
const unknownKeyMs = 1_000;
/** A message of PostgreSQL holds 8,000 bytes. */
const floorsPerMessage = 100;

export type Tokens = {
  /**
   * A JWT (HS256) that lives for the configured hours unless others are given. `generation` comes from the same read as
   * the account's status and role, so a change of the account meanwhile voids the token; default: the last known one.
   */
  issue(
    caller: Pick<Caller, 'role' | 'id' | 'perms'> & { generation?: number },
    options?: { hours?: number },
  ): Promise<string>;
  /**
   * The caller of a valid token, else null. Synchronous for a token seen before. Rejects with 503 when this process has heard
   * nothing of ended tokens for longer than the bound and the database does not answer.
   */
  verify(token: string): Caller | null | Promise<Caller | null>;
  /** Ends one token on every instance: here at once, elsewhere by message, within the bound without one. */
  revoke(token: Pick<Caller, 'jti' | 'expiresAt'>): Promise<void>;
  /** Ends all tokens of these accounts, in the same way. */
  endAll(role: AccountRole, ids: readonly number[]): Promise<void>;
  /** For floors raised within a transaction, after its commit. */
  announce(floors: readonly Floor[]): void;
  /** A new key signs from now on; older ones verify until their tokens have expired, or no longer. */
  rotate(options: { revokeOld: boolean }): Promise<{ kid: string; revoked: number }>;
  close(): Promise<void>;
};

type Keys = { signing: { kid: string; key: KeyObject }; all: Map<string, KeyObject> };
type Verified = { caller: Caller; kid: string; generation: number };

function keysOf(rows: readonly SigningKey[]): Keys {
  const all = new Map(rows.map((row) => [row.kid, createSecretKey(row.secret)]));
  const newest = rows[rows.length - 1]!;
  return { signing: { kid: newest.kid, key: all.get(newest.kid)! }, all };
}

/** Ids of the two kinds overlap. */
const floorKey = (role: AccountRole, id: number) => (role === 'admin' ? -id : id);

export async function openTokens(runtime: Runtime): Promise<Tokens> {
  const { sql, control, events, log, config } = runtime;
  await addSigningKey(sql, randomUUID(), randomBytes(32), { onlyFirst: true });
  let keys = keysOf(await selectSigningKeys(sql));
  let keysReadAt = performance.now();
  const verified = new Map<string, Verified>();
  /** jti to the end of the token's life (Unix seconds), after which nobody needs to know. */
  const revoked = new Map<string, number>();
  const floors = new Map<number, number>();
  let pollFrom = new Date(0);

  const readKeys = async () => {
    keysReadAt = performance.now();
    keys = keysOf(await selectSigningKeys(control));
  };
  const raise = ({ role, account_id, generation }: Floor) => {
    const key = floorKey(role, account_id);
    // Messages may overtake each other.
    if (generation > (floors.get(key) ?? 0)) floors.set(key, generation);
  };
  const readEnded = async () => {
    // A minute of overlap: transactions do not end in the order of their timestamps.
    const since = new Date(pollFrom.getTime() - 60_000);
    const { at, revoked: rows } = await selectRevokedSince(control, since);
    for (const floor of await selectFloorsSince(control, since)) raise(floor);
    pollFrom = at;
    for (const row of rows) revoked.set(row.jti, row.expires_at.getTime() / 1000);
    const now = runtime.now().getTime() / 1000;
    for (const [jti, expiresAt] of revoked) if (expiresAt < now) revoked.delete(jti);
    await readKeys();
  };
  const unsubscribe = await Promise.all([
    events.subscribe(channels.revoked, (message) => {
      const [jti, expiresAt] = message.split(' ');
      if (jti) revoked.set(jti, Number(expiresAt));
    }),
    events.subscribe(channels.floors, (message) => {
      for (const floor of floorsOf(message)) raise(floor);
    }),
    events.subscribe(channels.keys, () => {
      readKeys().catch((error: unknown) => log.warn({ err: error }, 'signing keys could not be read again'));
    }),
  ]);
  // After the subscriptions, so that nothing falls between the two.
  const fresh = await keepFresh({ read: readEnded, what: 'signing keys and ended tokens', log });
  const publish = (channel: string, message: string) =>
    events.publish(channel, message).catch((error: unknown) => {
      log.warn({ err: error }, 'other instances learn of ended tokens at their next reading');
    });

  const announce = (raised: readonly Floor[]) => {
    for (const floor of raised) raise(floor);
    for (let i = 0; i < raised.length; i += floorsPerMessage) {
      void publish(channels.floors, floorsMessage(raised.slice(i, i + floorsPerMessage)));
    }
  };

  const stillGood = ({ caller, kid, generation }: Verified): boolean =>
    caller.expiresAt > runtime.now().getTime() / 1000 &&
    generation >= (floors.get(floorKey(caller.role, caller.id)) ?? 0) &&
    keys.all.has(kid) &&
    !revoked.has(caller.jti);

  async function keyOf(kid: string): Promise<KeyObject | undefined> {
    // The first token of a new key may be here before the news of the key.
    if (!keys.all.has(kid) && performance.now() - keysReadAt > unknownKeyMs) await readKeys();
    return keys.all.get(kid);
  }

  async function verifyFresh(token: string, digest: string): Promise<Caller | null> {
    try {
      const { kid } = decodeProtectedHeader(token);
      const key = kid ? await keyOf(kid) : undefined;
      if (!kid || !key) return null;
      const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'], currentDate: runtime.now() });
      const { role, user_id: id, perms, jti, iat, exp: expiresAt, gen: generation } = tokenClaims.parse(payload);
      if (iat > runtime.now().getTime() / 1000 + clockSkewSeconds) return null;
      const caller: Caller = Object.freeze({ role, id, perms, jti, expiresAt });
      const entry = { caller, kid, generation };
      if (!stillGood(entry)) return null;
      if (verified.size >= cacheLimit) verified.delete(verified.keys().next().value!);
      verified.set(digest, entry);
      return caller;
    } catch (error) {
      if (lostConnection(error)) throw Object.assign(serviceErrors.busy(), { cause: error });
      // Whatever is wrong with it, it is not a token of ours.
      return null;
    }
  }

  const judge = (token: string): Caller | null | Promise<Caller | null> => {
    const digest = hash('sha256', token, 'base64');
    const entry = verified.get(digest);
    if (!entry) return verifyFresh(token, digest);
    if (stillGood(entry)) return entry.caller;
    verified.delete(digest);
    return null;
  };

  return {
    async issue({ role, id, perms, generation = floors.get(floorKey(role, id)) ?? 0 }, { hours } = {}) {
      const { kid, key } = keys.signing;
      const issuedAt = Math.trunc(runtime.now().getTime() / 1000);
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
    },
    verify: (token) => (fresh.isFresh() ? judge(token) : fresh.renew().then(() => judge(token))),
    async revoke({ jti, expiresAt }) {
      await insertRevokedToken(sql, jti, new Date(expiresAt * 1000));
      revoked.set(jti, expiresAt);
      await publish(channels.revoked, `${jti} ${expiresAt}`);
    },
    async endAll(role, ids) {
      announce(await raiseFloors(sql, role, ids));
    },
    announce,
    async rotate({ revokeOld }) {
      const kid = randomUUID();
      await addSigningKey(sql, kid, randomBytes(32));
      const gone = revokeOld ? await deleteOldSigningKeys(sql) : 0;
      await readKeys();
      await publish(channels.keys, kid);
      return { kid, revoked: gone };
    },
    async close() {
      fresh.close();
      await Promise.all(unsubscribe.map((end) => end()));
    },
  };
}
