import { createHash } from 'node:crypto';
import { AppError } from '@tradepost/core';
import { clientNetwork } from '@tradepost/http';
import { type Runtime, runtimeErrors } from '@tradepost/runtime';
import { identityErrors } from './errors.ts';
import { loginPerAccount, loginPerAddress, loginWindowMinutes } from './settings.ts';

type Deps = Pick<Runtime, 'store' | 'settings' | 'log' | 'now'>;

/** How long an address counts as the account's own after a login from it. */
const ownAddressMs = 30 * 24 * 3_600_000;

export const networkOf = (address: string) => clientNetwork(address) || 'unknown';

/** Names and phones do not become keys that a look into the store shows. */
const hashed = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** What is counted: its kind, and of whom. */
export type Counted = readonly [kind: string, of: string];

/** Counts within windows that begin at multiples of their length, so that the time to wait is known without asking. */
export function openCounters(deps: Deps) {
  const { store, log } = deps;
  const place = ([kind, of]: Counted, windowMs: number) => {
    const at = deps.now().getTime();
    const window = Math.floor(at / windowMs);
    const leftMs = (window + 1) * windowMs - at;
    return { key: `${kind}:${hashed(of)}:${window}`, leftMs, seconds: Math.ceil(leftMs / 1000) };
  };
  return {
    async count(what: Counted, windowMs: number) {
      const { key, seconds } = place(what, windowMs);
      return { value: Number(await unlessDown(log, store.get(key), null)), seconds };
    },
    async add(what: Counted, windowMs: number) {
      const { key, leftMs, seconds } = place(what, windowMs);
      return { value: await unlessDown(log, store.increment(key, leftMs), 0), seconds };
    },
    async clear(what: Counted, windowMs: number) {
      await unlessDown(log, store.delete(place(what, windowMs).key), undefined);
    },
  };
}
export type Counters = ReturnType<typeof openCounters>;

/** A store that is down must not close the shop: what it would have counted is let through. */
function unlessDown<T>(log: Deps['log'], asked: Promise<T>, otherwise: T): Promise<T> {
  return asked.catch((error: unknown) => {
    log.warn({ err: error }, 'the store does not answer: attempts are not limited');
    return otherwise;
  });
}

/** Logins of one account that wait for their turn; whoever comes then is told to come back. */
const maxWaiting = 50;

/** One at a time per key, in the order of arrival. */
function openTurns() {
  const turns = new Map<string, { waiting: number; last: Promise<unknown> }>();
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const turn = turns.get(key) ?? { waiting: 0, last: Promise.resolve() };
    if (turn.waiting >= maxWaiting) throw runtimeErrors.busy();
    turns.set(key, turn);
    turn.waiting += 1;
    const mine = turn.last.then(work);
    turn.last = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      turn.waiting -= 1;
      if (turn.waiting === 0) turns.delete(key);
    }
  };
}

type LoginAttempt = {
  /** Name or phone; null when the login names none. */
  account: string | null;
  address: string;
  /** Whether a refusal means that something was guessed wrong. */
  isGuess(refusal: AppError): boolean;
};
export type LoginLimits = <T>(attempt: LoginAttempt, login: () => Promise<T>) => Promise<T>;

/**
 * Bounds guessing: failures per account and per client address, looked at before anything is hashed. Guesses at one account
 * take turns, so that a thousand sent at once find the failures of those before them. An address from which the account has
 * logged in before has a counter and a turn of its own: strangers who fail on purpose do not lock the owner out.
 */
export function openLoginLimits(deps: Deps, counters: Counters): LoginLimits {
  const { store, settings, log } = deps;
  const inTurn = openTurns();
  return async ({ account, address, isGuess }, login) => {
    const windowMs = settings.get(loginWindowMinutes) * 60_000;
    const network = networkOf(address);
    const pair = `${account} ${network}`;
    const ownKey = `login:own:${hashed(pair)}`;
    const own = account !== null && (await unlessDown(log, store.get(ownKey), null)) !== null;
    const ofAccount: Counted = own ? ['login:pair', pair] : ['login:account', account ?? ''];
    const limits: { what: Counted; max: number }[] = [
      { what: ['login:address', network], max: settings.get(loginPerAddress) },
      { what: ofAccount, max: account === null ? 0 : settings.get(loginPerAccount) },
    ];
    const limited = limits.filter(({ max }) => max > 0);
    const check = async () => {
      for (const { what, max } of limited) {
        const { value, seconds } = await counters.count(what, windowMs);
        if (value >= max) throw identityErrors.too_many_failures({ seconds });
      }
    };
    const attempt = async () => {
      await check();
      try {
        const result = await login();
        if (account !== null) {
          await counters.clear(ofAccount, windowMs);
          await unlessDown(log, store.set(ownKey, '1', ownAddressMs), undefined);
        }
        return result;
      } catch (error) {
        if (error instanceof AppError && isGuess(error))
          for (const { what } of limited) await counters.add(what, windowMs);
        throw error;
      }
    };
    return account === null ? attempt() : inTurn(ofAccount.join(' '), attempt);
  };
}
