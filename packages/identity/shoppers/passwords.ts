import { hash, verify } from '@node-rs/argon2';
import { createConcurrencyLimit, withSlot } from '@tradepost/runtime';

/** Argon2id with the parameters of OWASP (19 MiB, 2 passes). A hash takes about 20 ms on a thread of the pool. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * Two hashes run at once. The pool has four threads, which also check tokens and read files. Many logins must not block them.
 */
const limit = createConcurrencyLimit({ active: 2, queued: 200 });

export function hashPassword(password: string): Promise<string> {
  return withSlot(limit, () => hash(password, parameters));
}

/** The hash that is compared when the account does not exist. */
const decoy = hash('no account has this password', parameters);

/** Whether the password is right. Takes the same time when the account does not exist (`stored` is empty). */
export async function passwordFits(stored: string | null | undefined, password: string): Promise<boolean> {
  const against = stored ?? (await decoy);
  const fits = await withSlot(limit, () => verify(against, password).catch(() => false));
  return fits && stored != null;
}
