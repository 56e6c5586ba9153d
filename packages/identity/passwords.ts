import { hash, verify } from '@node-rs/argon2';
import { runtimeErrors } from '@tradepost/runtime';

/** Argon2id with OWASP's parameters (19 MiB, 2 passes): about 20 ms on a thread of the pool, not of the event loop. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export function hashPassword(password: string): Promise<string> {
  return hash(password, parameters);
}

/**
 * Two at a time: hashing shares four threads with token checks and file reads, and a flood of logins must leave some to
 * the others. Who finds too many waiting is told to come back.
 */
const atOnce = 2;
const maxWaiting = 200;
let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= atOnce) {
    if (waiting.length >= maxWaiting) throw runtimeErrors.busy();
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

const decoy = hashPassword('nobody has this password');

/** Takes as long for an account that does not exist as for a wrong password. */
export async function passwordFits(stored: string | null | undefined, password: string): Promise<boolean> {
  const against = stored ?? (await decoy);
  const fits = await inTurn(() => verify(against, password).catch(() => false));
  return fits && stored != null;
}
