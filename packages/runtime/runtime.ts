import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTimeZone, locales } from '@tradepost/core';
import type { EmbeddedPostgres } from '@tradepost/embedded-postgres';
import { actingSql, type ChangeActor, type Migrated, openDatabase, type Sql } from '@tradepost/postgres';
import { z } from 'zod';
import type { Config } from './config/fields.ts';
import { openDatabaseServer } from './database-server.ts';
import { type GroupCommits, openGroupCommits } from './group-commits.ts';
import { type Idempotency, openIdempotency } from './idempotency/idempotency.ts';
import { keysPerCaller } from './idempotency/idempotency-quota.ts';
import { migrateDatabase } from './migrate-database.ts';
import { exportSpans } from './observability/export-spans.ts';
import { type Log, openLog } from './observability/log.ts';
import { type Metrics, openMetrics } from './observability/metrics.ts';
import { openParts, type PartState, type Parts } from './observability/parts.ts';
import { runtimeRetentionSettings } from './retention/retention.ts';
import { openSecrets, type Secrets, secretsKeyFileOf } from './secrets/secrets.ts';
import { type Setting, setting } from './settings/setting.ts';
import { openSettings, type Settings } from './settings/settings.ts';
import { type Events, openEvents } from './store/events.ts';
import { openStore } from './store/open-store.ts';
import type { Store } from './store/store.ts';

export const timeZone = setting(
  'shop.time_zone',
  z.string().refine(isTimeZone, { error: 'must be an IANA time zone such as Asia/Shanghai' }),
  'Asia/Shanghai',
  'time zone of timestamps on the wire, and of "today"',
);
export const shopLocale = setting(
  'shop.locale',
  z.enum(locales),
  'zh-CN',
  'language of messages and labels when a request does not choose one: en or zh-CN',
);
/**
 * Set it to false when the pages of the shop are in one language only. Browsers in another language then get answers in
 * the language of the shop without `?lang=`.
 */
export const acceptLanguage = setting(
  'shop.accept_language',
  z.boolean(),
  true,
  'whether Accept-Language chooses the language of an answer; ?lang= always does',
);

export const demoShop = setting(
  'shop.demo',
  z.boolean(),
  false,
  'whether the demo seed has filled this database; written by the seed',
  { readOnly: true },
);

/** The settings of this package. `openRuntime` adds them to the given definitions. */
export const runtimeSettings = [
  timeZone,
  shopLocale,
  acceptLanguage,
  keysPerCaller,
  demoShop,
  ...runtimeRetentionSettings,
] as const;

const checkMs = 2_000;
/**
 * A proxy sends no requests to a process in which one of these parts fails. `process` fails while it starts and stops. The store does not
 * count: requests are served without it, and all processes share it, so a proxy would have no process left.
 */
const servingParts = new Set(['database', 'process']);

/** The opened services of this process, which every package uses. */
export type Runtime = {
  /** A short random name of this process, which `/health` and its database session show. */
  readonly instance: string;
  readonly config: Config;
  readonly sql: Sql;
  /** One connection for queries that must not wait behind requests, such as the refresh of cached rows. */
  readonly control: Sql;
  readonly databaseUrl: string;
  readonly store: Store;
  readonly settings: Settings;
  readonly secrets: Secrets;
  readonly events: Events;
  readonly idempotency: Idempotency;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The parts that this process needs to work: `database`, `store`, and those that others add. */
  readonly parts: Parts;
  readonly migrated: Migrated;
  readonly embedded: EmbeddedPostgres | null;
  /**
   * `groupCommit` with the configured limits. Batch sizes are counted in the metrics, and `close` drains the queues.
   */
  groupCommit: GroupCommits['groupCommit'];
  now(): Date;
  /** Whether the embedded database has ended and is being started again. Requests are refused until it is back. */
  isDatabaseAway(): boolean;
  /** Rejects with NotServingError when the database does not answer in time, and while the process starts or stops. */
  check(): Promise<void>;
  /** Stores the address, so that a second start can report it. Only the serving instance does it. */
  announce(url: string): Promise<void>;
  /**
   * Waits until queued work has finished, at most for `deadlineMs` (default: the configured shutdown time), then closes
   * everything.
   */
  close(deadlineMs?: number): Promise<void>;
};

export type RuntimeOptions = {
  config: Config;
  definitions: readonly Setting[];
  /** True for an instance that serves: it owns its embedded database. A command beside it only uses the database. */
  serve?: boolean;
  /** The release that exported spans name. Without it no spans are exported: a command that ends at once has none to show. */
  version?: string;
  /** The store of this process alone. For commands, which count no log-ins and no visits: they work without the Redis of the servers. */
  ownStore?: boolean;
  /** Do not migrate an external database. It must be at this version already. */
  checkOnly?: boolean;
  log?: Log;
  onProgress?: (line: string) => void;
  /** The actor of all changes that this process makes, for the change log. A server has none. */
  actor?: ChangeActor | null;
  /** The embedded database cannot be started again, or belongs to another process. No request can be served. */
  onFatal?: (reason: string) => void;
};

/** The runtime whose transactions have this actor in the change log (`actingSql`). */
export const actingRuntime = <R extends { readonly sql: Sql }>(runtime: R, actor: ChangeActor | null | undefined): R =>
  actor ? { ...runtime, sql: actingSql(runtime.sql, actor) } : runtime;

/** Without an end of its lifetime, so that the session keeps the name that announces the process. */
const controlOptions = {
  max: 1,
  name: 'tradepost control',
  statementTimeoutMs: 10_000,
  maxLifetimeSeconds: null,
} as const;

/** Checks the parts before each read of the metrics, so that an alert names the part that is away. */
function measureParts({ gauge, beforeRead }: Metrics, parts: Parts): void {
  const works = gauge({
    name: 'process_part_works',
    help: '1 while a part of the process works, else 0: database, store (Redis), process, and worker where one runs',
    labelNames: ['part'],
    flushed: true,
  });
  beforeRead.add(async () => {
    for (const { name, ok } of await parts.check()) works.set({ part: name }, Number(ok));
  });
}

function openRuntimeParts(sql: Sql, store: Store, metrics: Metrics): Parts {
  const parts = openParts(checkMs);
  parts.add('database', () => sql`select 1`);
  parts.add('store', () => store.ping());
  measureParts(metrics, parts);
  return parts;
}

/** A part that requests need does not work. `isPlanned`: the process starts or stops, which is no fault. */
export class NotServingError extends Error {
  readonly isPlanned: boolean;
  constructor({ name, error }: PartState) {
    super(`${name}: ${error}`);
    this.name = 'NotServingError';
    this.isPlanned = name === 'process';
  }
}

async function checkServing(parts: Parts): Promise<void> {
  const failed = (await parts.check()).find(({ name, ok }) => !ok && servingParts.has(name));
  if (failed) throw new NotServingError(failed);
}

/** Closes in the reverse order of opening. A failure is logged, and the others are closed. */
async function closeAll(closers: (() => Promise<unknown>)[], log: Log): Promise<void> {
  for (const closer of closers.splice(0).reverse())
    await closer().catch((error: unknown) => log.warn({ err: error }, 'a service failed to close'));
}

/** Opens all services in order. When a step fails, the opened services are closed. */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { config, onProgress } = options;
  const log = options.log ?? openLog({ level: config.logLevel });
  const instance = randomUUID();
  const metrics = openMetrics();
  const closers: (() => Promise<unknown>)[] = [];
  let drainMs = config.shutdownSeconds * 1000;
  let closeBy = 0;
  let closing: Promise<void> | undefined;
  // A second call of close waits for the first one.
  const close = (deadlineMs = drainMs) => {
    drainMs = deadlineMs;
    closeBy ||= performance.now() + deadlineMs;
    closing ??= closeAll(closers, log);
    return closing;
  };
  try {
    const endExport = await exportSpans({ config, log, metrics }, instance.slice(0, 8), options.version);
    // Last: the spans of all other work have ended.
    closers.push(() => endExport(Math.max(500, closeBy - performance.now())));
    const server = await openDatabaseServer(options, log);
    const { embedded, lock } = server;
    closers.push(server.close);
    const migrated = await migrateDatabase(server.url, {
      ...(onProgress ? { onProgress } : {}),
      // A command that only reads does not change an external database. The embedded one belongs to the shop.
      checkOnly: options.checkOnly === true && !embedded,
    });
    const sql = openDatabase(server.url, {
      max: config.databasePool,
      onStatement: () => metrics.statements.inc(),
      statementTimeoutMs: 60_000,
      actor: options.actor,
      // A row that stays locked must not delay the other calls of the batch for long.
      lockTimeoutMs: 2_000,
    });
    closers.push(() => sql.end({ timeout: 5 }));
    const control = openDatabase(server.url, controlOptions);
    closers.push(() => control.end({ timeout: 1 }));
    const events = await openEvents({ url: server.url, sql, instance, log });
    closers.push(() => events.close());
    const store = await openStore(options.ownStore ? undefined : config.redisUrl, log);
    closers.push(() => store.close());
    const secrets = openSecrets({ sql, file: secretsKeyFileOf(config), log });
    const known = { definitions: [...runtimeSettings, ...options.definitions], fixed: config.settings };
    const settings = await openSettings({ sql, events, log, secrets, ...known, production: config.production });
    closers.push(() => settings.close());
    const idempotency = openIdempotency({ sql, instance, log, settings });
    closers.push(() => idempotency.drain());
    const commits = openGroupCommits({ config, metrics, idempotency });
    // A batch that waits for a lock ends at the deadline: its connection closes, which rolls it back.
    closers.push(() => Promise.race([commits.drain(), sleep(drainMs, undefined, { ref: false })]));
    const parts = openRuntimeParts(sql, store, metrics);
    return {
      ...{ instance: instance.slice(0, 8), config, sql, control },
      databaseUrl: server.url,
      store,
      settings,
      secrets,
      log,
      metrics,
      parts,
      migrated,
      embedded,
      events,
      idempotency,
      groupCommit: commits.groupCommit,
      now: () => new Date(),
      isDatabaseAway: server.isAway,
      check: () => checkServing(parts),
      announce: async (url) => {
        if (options.serve) await lock?.announce(url);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
