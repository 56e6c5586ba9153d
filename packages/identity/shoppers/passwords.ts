import { hash, verify } from '@node-rs/argon2';
import { serviceErrors } from '@tradepost/core';
import { createConcurrencyLimit } from '@tradepost/runtime';

/** Argon2id with OWASP's parameters (19 MiB, 2 passes): about 20 ms on a thread of the pool, not of the event loop. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Two at once: hashing shares four threads with token checks and file reads, and a flood of logins must leave some to them. */
const limit = createConcurrencyLimit({ active: 2, queued: 200 });

/** Refuses with 503 when the queue is full. */
async function limited<T>(work: () => Promise<T>): Promise<T> {
  if (!(await limit.acquire())) throw serviceErrors.busy();
  try {
    return await work();
  } finally {
    limit.release();
  }
}

export function hashPassword(password: string): Promise<string> {
  return limited(() => hash(password, parameters));
}

const decoy = hash('nobody has this password', parameters);

/** Takes as long for an account that does not exist as for a wrong password. */
export async function passwordFits(stored: string | null | undefined, password: string): Promise<boolean> {
  const against = stored ?? (await decoy);
  const fits = await limited(() => verify(against, password).catch(() => false));
  return fits && stored != null;
}
