import { defineRegistry } from '@tradepost/module';
import type { Config, Setting } from '@tradepost/runtime';

/** A complete file in the folder for incoming files. */
type IncomingFile = {
  readonly file: string;
  /** `2026/11/<nanoseconds>_<12 hex>.png` */
  readonly path: string;
  readonly mime: string;
  readonly size: number;
};

export type StorageDriver = {
  /** Throws the refusal that names a missing setting. */
  ready(): void;
  /**
   * Stores the file under its path. When it resolves, the object is complete and durable. When it rejects, the caller
   * removes the path. The driver may move the incoming file or leave it.
   */
  put(file: IncomingFile): Promise<void>;
  /** The content of an object, or null when it does not exist. */
  read(path: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Whether there is an object. */
  has(path: string): Promise<boolean>;
  /** Removes objects. A path without an object is no error. */
  remove(paths: readonly string[]): Promise<void>;
  /** The address as tables store it: `/uploads/<path>` for files of this server, otherwise an absolute URL. */
  addressOf(path: string): string;
  /** The file of an object on this machine. Object storage has none: its objects are read at their addresses. */
  fileOf?(path: string): string;
  /** Throws when the storage cannot be used now. `tradepost doctor` calls it; it changes nothing. */
  check(): Promise<void>;
};

/** The part of the runtime that drivers use. Doctor checks have it too. */
export type DriverRuntime = {
  readonly config: Pick<Config, 'data'>;
  readonly settings: { get<T>(setting: Setting<T>): T };
};

export type StorageDriverEntry = {
  /** The value in the table of files. */
  readonly name: string;
  /** Further names that requests and the setting of the router may use. */
  readonly aliases: readonly string[];
  readonly settings: readonly Setting[];
  /** Called once at start. A driver reads its settings at each call, so a change needs no restart. */
  open(runtime: DriverRuntime): StorageDriver;
};

export const storageDrivers = defineRegistry<StorageDriverEntry>('storage.drivers', { isStatic: true });
