import { AppError } from '@tradepost/core';
import { clientNetwork } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { identityErrors } from '../errors.ts';
import { loginPerAccount, loginPerAddress, loginWindowMinutes } from '../settings.ts';
import { hashed, type Limit, type Reservations } from './attempt-reservations.ts';

/** For this long after a login, its client address counts as known for the account. */
const ownAddressMs = 30 * 24 * 3_600_000;

export const networkOf = (address: string) => clientNetwork(address) || 'unknown';

type LoginAttempt = {
  /** The user name or phone. Null when the login has no such name. */
  account: string | null;
  address: string;
  /** Whether a refusal means a wrong guess. */
  isGuess(refusal: AppError): boolean;
};
export type LoginLimits = <T>(attempt: LoginAttempt, login: () => Promise<T>) => Promise<T>;

/**
 * Limits wrong guesses per client address and per account. An attempt is counted before a password is hashed. The count is
 * released unless the guess was wrong. An address from which the account has logged in before has its own counter, so failed
 * logins from other addresses do not lock the owner out.
 */
export function openLoginLimits(
  { store, settings }: Pick<Runtime, 'store' | 'settings'>,
  reservations: Reservations,
): LoginLimits {
  return async ({ account, address, isGuess }, login) => {
    const windowMs = settings.get(loginWindowMinutes) * 60_000;
    const network = networkOf(address);
    const pair = `${account} ${network}`;
    const ownKey = `login:own:${hashed(pair)}`;
    const own = account !== null && (await reservations.unlessDown(store.get(ownKey), null)) !== null;
    const limits: Limit[] = [
      { kind: 'login:address', of: network, windowMs, max: settings.get(loginPerAddress) },
      ...(account === null
        ? []
        : [
            {
              ...(own ? { kind: 'login:pair', of: pair } : { kind: 'login:account', of: account }),
              ...{ windowMs, max: settings.get(loginPerAccount) },
            },
          ]),
    ];
    const reservation = await reservations.reserve(limits);
    if ('seconds' in reservation) throw identityErrors.too_many_failures({ seconds: reservation.seconds });
    try {
      const result = await login();
      const [ofAddress, ofAccount] = reservation.counts;
      await Promise.all([ofAddress?.release(), ofAccount?.clear()]);
      if (account !== null) await reservations.unlessDown(store.set(ownKey, '1', ownAddressMs), undefined);
      return result;
    } catch (error) {
      const guessed = error instanceof AppError && isGuess(error);
      await Promise.all(reservation.counts.map((count) => (guessed ? count.keep() : count.release())));
      throw error;
    }
  };
}
