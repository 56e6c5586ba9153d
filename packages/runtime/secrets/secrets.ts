import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@tradepost/postgres';
import type { Config } from '../config/fields.ts';
import { runtimeErrors } from '../errors.ts';
import type { Log } from '../observability/log.ts';
import { addKey, createKeyFile, KeyFileError, readKeyFile } from './key-file.ts';
import { keyIdOf, openText, type SecretKey, sealText } from './sealed-text.ts';
import { recordKey, selectKeyIds } from './secret-key-store.ts';

/** Encrypts the secrets that packages store. `name` says which secret it is: its setting, or its table and row. */
export type Secrets = {
  /**
   * Encrypts a text for a column. Creates the key file when this shop has stored no secret before. Refuses with
   * `secrets_unusable` when the key file is missing, unreadable or another one. Call it before the transaction opens.
   */
  seal(name: string, text: string): Promise<string>;
  /**
   * Decrypts a sealed text. The name must be the one that it was sealed with. Refuses with `secret_unreadable` when its key is
   * not in the file, or when the text was changed.
   */
  open(name: string, sealed: string): string;
  /**
   * Puts a new key before the others of the file. It encrypts from now on, in other processes within a second. Resolves when
   * secrets that other processes seal with the previous key are stored, so that `resealColumn` finds all of them.
   */
  addKey(): Promise<void>;
  /** The state for operators. */
  status(): Promise<SecretsStatus>;
};

export type SecretsStatus = {
  readonly file: string;
  /** Why secrets cannot be stored or read, with the remedy; null when they can. */
  readonly problem: string | null;
  /** Ids of the keys in the file, the encrypting one first. */
  readonly inFile: readonly string[];
  /** Ids of the keys that have sealed secrets of this database. */
  readonly recorded: readonly string[];
};

/** The key file of a configuration. */
export const secretsKeyFileOf = ({ secretsKeyFile, data }: Pick<Config, 'secretsKeyFile' | 'data'>): string =>
  secretsKeyFile ?? join(data, 'secrets.key');

/** A changed file is read again after this time. */
const rereadMs = 1_000;
/** The time for a process to store a secret that it has sealed. */
const storeMs = 1_000;

async function statusOf(sql: Sql, file: string): Promise<SecretsStatus> {
  const recorded = await selectKeyIds(sql);
  try {
    const inFile = (readKeyFile(file) ?? []).map(({ id }) => id);
    const lost = recorded.length > 0 && !recorded.some((id) => inFile.includes(id));
    const problem = !lost ? null : inFile.length === 0 ? missing(file) : foreign(file);
    return { file, problem, inFile, recorded };
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error;
    return { file, problem: error.message, inFile: [], recorded };
  }
}

/** The keys of the file, read again when it may have changed. */
function openKeys(file: string, now: () => number) {
  let latest: { keys: readonly SecretKey[]; readAt: number } | null = null;
  /** All keys that this process has read. They stay usable when the file is away for a moment. */
  const known = new Map<string, SecretKey>();
  const reread = (): readonly SecretKey[] => {
    latest = { keys: readKeyFile(file) ?? [], readAt: now() };
    for (const key of latest.keys) known.set(key.id, key);
    return latest.keys;
  };
  return {
    /** The keys as they were at most a second ago. */
    read: () => (latest && now() - latest.readAt < rereadMs ? latest.keys : reread()),
    reread,
    /** A key by its id. Another process may have sealed with one that is younger than the last reading. */
    byId(keyId: string): SecretKey | undefined {
      if (!known.has(keyId)) reread();
      return known.get(keyId);
    },
  };
}

export function openSecrets(deps: { sql: Sql; file: string; log: Log; now?: () => number }): Secrets {
  const { sql, file, log, now = () => performance.now() } = deps;
  const inFile = openKeys(file, now);
  /** The key that this process has seen recorded in the database. */
  let recordedId: string | null = null;

  /** The key that encrypts. The first secret of a shop creates the file. */
  const sealingKey = async (): Promise<SecretKey> => {
    let keys = inFile.read();
    if (keys.length === 0 && (await selectKeyIds(sql)).length > 0) {
      // Another process may have created the file since it was read.
      keys = inFile.reread();
      if (keys.length === 0) throw new KeyFileError(missing(file));
    }
    if (keys.length === 0) {
      const { created } = await createKeyFile(file);
      if (created) log.warn({ file }, 'created the key file of stored secrets: keep a copy of it, apart from the backups');
      keys = inFile.reread();
    }
    const [first] = keys as [SecretKey];
    if (
      recordedId !== first.id &&
      !(await recordKey(
        sql,
        keys.map(({ id }) => id),
      ))
    )
      throw new KeyFileError(foreign(file));
    recordedId = first.id;
    return first;
  };

  return {
    async seal(name, text) {
      let key: SecretKey;
      try {
        key = await sealingKey();
      } catch (error) {
        if (!(error instanceof KeyFileError)) throw error;
        log.error({ reason: error.message }, 'a secret could not be stored');
        throw runtimeErrors.secrets_unusable();
      }
      return sealText(key, name, text);
    },
    open(name, sealed) {
      const keyId = keyIdOf(sealed);
      try {
        const key = keyId === null ? undefined : inFile.byId(keyId);
        if (key) return openText(key, name, sealed);
      } catch (error) {
        log.debug({ name, err: error }, 'a stored secret could not be decrypted');
      }
      throw runtimeErrors.secret_unreadable({ name });
    },
    async addKey() {
      await addKey(sql, file);
      inFile.reread();
      await sleep(rereadMs + storeMs);
    },
    status: () => statusOf(sql, file),
  };
}

const remedy =
  'put the kept copy back (backups have no key file; a copy of the shop for trials gets none), or name it in TRADEPOST_SECRETS_KEY_FILE';
const missing = (file: string) => `${file} is missing, and the database has secrets that need it: ${remedy}`;
const foreign = (file: string) => `${file} has none of the keys of this database: ${remedy}`;
