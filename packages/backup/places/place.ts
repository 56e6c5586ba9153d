/** A backup that is being written. Its entries are written once, the manifest last. */
export type BackupWriter = {
  readonly location: string;
  put(entry: string, bytes: Buffer): Promise<void>;
  /** Makes the backup visible under its name. Resolves with its length. */
  finish(): Promise<number>;
  /** Removes what was written. */
  discard(): Promise<void>;
};

/** A backup that is read. */
export type BackupReader = {
  readonly location: string;
  /** The entries with their lengths. */
  readonly entries: ReadonlyMap<string, number>;
  read(entry: string): Promise<Buffer>;
  close(): Promise<void>;
};

export type StoredBackup = { readonly name: string; readonly bytes: number; readonly isComplete: boolean };

/** A folder or the prefix of a bucket, with backups by their names. */
export type Place = {
  readonly location: string;
  /** Refuses a name that exists. `source` is the id of the database: remains of its interrupted backups are removed. */
  create(name: string, source: string): Promise<BackupWriter>;
  /** The backups with names of backups, the newest first; also interrupted ones. */
  list(): Promise<StoredBackup[]>;
  /** Refuses a backup that does not exist or is not complete. */
  open(name: string): Promise<BackupReader>;
  remove(names: readonly string[]): Promise<void>;
  /** Removes the remains of interrupted backups of a database. Only its running backup may call it. */
  removeAbandoned(source: string): Promise<void>;
  /** Throws when no backup can be written. Changes nothing. */
  check(): Promise<void>;
  /** Bytes that can still be written; null where this is not known, as in a bucket. */
  free(): Promise<number | null>;
};

/** The newest first: of different databases too. */
export const newestFirst = (a: StoredBackup, b: StoredBackup): number =>
  b.name.slice(-16).localeCompare(a.name.slice(-16)) || a.name.localeCompare(b.name);
