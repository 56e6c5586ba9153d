import { vi } from 'vitest';

/**
 * Hashes of secrets with the least cost, in every test file. A login then takes microseconds of the processor instead of 15 ms,
 * and an Idempotency-Key on a request with a password instead of 100 ms. Checks read the parameters from the hash, so servers
 * in other processes accept it too. Tests of the cost itself call `vi.unmock`.
 */
type Hash = (password: string, parameters: object) => Promise<string>;
vi.mock('@node-rs/argon2', async (importOriginal) => {
  const argon2 = await importOriginal<{ hash: Hash }>();
  const hash: Hash = (password) => argon2.hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 });
  return { ...argon2, hash };
});

vi.mock('../http/slow-hash.ts', async () => {
  const { createHash } = await import('node:crypto');
  return {
    slowHash: async (value: Buffer, salt: Buffer) => createHash('sha256').update(salt).update(value).digest(),
  };
});
