import { hash, verify } from '@node-rs/argon2';

/** Argon2id with OWASP's parameters (19 MiB, 2 passes): about 20 ms on a thread of the pool, not of the event loop. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export function hashPassword(password: string): Promise<string> {
  return hash(password, parameters);
}

const decoy = hashPassword('nobody has this password');

/** Takes as long for an account that does not exist as for a wrong password. */
export async function passwordFits(stored: string | null | undefined, password: string): Promise<boolean> {
  const fits = await verify(stored ?? (await decoy), password).catch(() => false);
  return fits && stored != null;
}
