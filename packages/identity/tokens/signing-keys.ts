import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Sql } from '@tradepost/postgres';
import { type SigningKey, selectSigningKeys } from './token-store.ts';

/** The shortest time between two reads that unknown key ids cause. Clients can invent key ids. */
const unknownKeyMs = 1_000;

type NamedKey = { kid: string; key: KeyObject };

/** The signing keys as this process has last read them. */
export class SigningKeys {
  readonly #control: Sql;
  #all: ReadonlyMap<string, KeyObject>;
  #newest: NamedKey;
  #readAt = performance.now();

  /** `rows` are sorted by age, oldest first. There is at least one. */
  constructor(control: Sql, rows: readonly SigningKey[]) {
    this.#control = control;
    ({ all: this.#all, newest: this.#newest } = keysOf(rows));
  }

  /** The newest key. New tokens are signed with it. */
  get signing(): NamedKey {
    return this.#newest;
  }

  has(kid: string): boolean {
    return this.#all.has(kid);
  }

  /**
   * Finds a key by its id. For an unknown id the keys are read again: the first token of a new key may arrive before the
   * notification about the key.
   */
  async find(kid: string): Promise<KeyObject | undefined> {
    if (!this.#all.has(kid) && performance.now() - this.#readAt > unknownKeyMs) await this.read();
    return this.#all.get(kid);
  }

  async read(): Promise<void> {
    this.#readAt = performance.now();
    ({ all: this.#all, newest: this.#newest } = keysOf(await selectSigningKeys(this.#control)));
  }
}

function keysOf(rows: readonly SigningKey[]): { all: ReadonlyMap<string, KeyObject>; newest: NamedKey } {
  const keys = rows.map(({ kid, secret }): NamedKey => ({ kid, key: createSecretKey(secret) }));
  const newest = keys.at(-1);
  if (!newest) throw new Error('identity.signing_keys is empty');
  return { all: new Map(keys.map(({ kid, key }) => [kid, key])), newest };
}
