import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Sql } from '@tradepost/postgres';
import { type SigningKey, selectSigningKeys } from './token-store.ts';

/** A token of an unknown key makes the keys be read again, at most this often: a caller can invent key ids. */
const unknownKeyMs = 1_000;

/** The signing keys as this process has read them last. */
export class SigningKeys {
  readonly #control: Sql;
  #all: ReadonlyMap<string, KeyObject> = new Map();
  #newest = '';
  #readAt = performance.now();

  /** `rows` in the order of their age; there is at least one. */
  constructor(control: Sql, rows: readonly SigningKey[]) {
    this.#control = control;
    this.#replace(rows);
  }

  /** The newest key, which signs. */
  get signing(): { kid: string; key: KeyObject } {
    return { kid: this.#newest, key: this.#all.get(this.#newest)! };
  }

  has(kid: string): boolean {
    return this.#all.has(kid);
  }

  /** A key by its id. Reads again for an unknown one: the first token of a new key may arrive before the news of the key. */
  async find(kid: string): Promise<KeyObject | undefined> {
    if (!this.#all.has(kid) && performance.now() - this.#readAt > unknownKeyMs) await this.read();
    return this.#all.get(kid);
  }

  async read(): Promise<void> {
    this.#readAt = performance.now();
    this.#replace(await selectSigningKeys(this.#control));
  }

  #replace(rows: readonly SigningKey[]): void {
    this.#all = new Map(rows.map((row) => [row.kid, createSecretKey(row.secret)]));
    this.#newest = rows[rows.length - 1]!.kid;
  }
}
