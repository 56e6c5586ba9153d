import type * as crypto from 'node:crypto';
import { createRequire, syncBuiltinESMExports } from 'node:module';

/**
 * Hashes of secrets with the least cost, in every test file. A login then takes microseconds of the processor instead of 15 ms,
 * and an Idempotency-Key on a request with a password instead of 100 ms. Checks read the parameters from the hash, so servers
 * in other processes accept it too. Must be loaded before the code under test, which takes the functions when it is loaded.
 */
const require = createRequire(import.meta.url);
const argon2: Pick<typeof import('@node-rs/argon2'), 'hash' | 'verify'> = require('@node-rs/argon2');
const { hash, verify } = argon2;
let held: Promise<void> | undefined;
/** All password checks wait until the promise resolves. Undefined: they wait no more. */
export function holdPasswordChecks(until: Promise<void> | undefined): void {
  held = until;
}
argon2.hash = (password) => hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 });
argon2.verify = async (...given) => {
  await held;
  return verify(...given);
};

const builtin: Pick<typeof crypto, 'scrypt'> = require('node:crypto');
const { scrypt } = builtin;
const cheapScrypt = ((secret, salt, length, _parameters, callback) =>
  scrypt(secret, salt, length, { N: 2, r: 1, p: 1 }, callback)) as typeof scrypt;
/** Fingerprints of requests with secrets, at their real cost or at the least cost. */
export function costOfFingerprints(cost: 'real' | 'least'): void {
  builtin.scrypt = cost === 'real' ? scrypt : cheapScrypt;
  syncBuiltinESMExports();
}
costOfFingerprints('least');
