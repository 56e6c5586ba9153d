import { scrypt } from 'node:crypto';
import { createConcurrencyLimit, withSlot } from '@tradepost/runtime';

/**
 * The parameters that OWASP recommends for 16 MiB: about 0.2 s on a thread of the pool. Slow hashes run one at a time.
 */
const parameters = { N: 2 ** 14, r: 8, p: 5 };
const limit = createConcurrencyLimit({ active: 1, queued: 20 });

/** A hash that costs as much to guess from as the hash of a password. Throws 503 when the queue is full. */
export const slowHash = (value: Buffer, salt: Buffer): Promise<Buffer> =>
  withSlot(
    limit,
    () =>
      new Promise((resolve, reject) =>
        scrypt(value, salt, 32, parameters, (error, hash) => (error ? reject(error) : resolve(hash))),
      ),
  );
