import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type EmbeddedPostgres,
  OtherMajorError,
  type PlatformPackage,
  startEmbeddedPostgres,
  superviseEmbeddedPostgres,
} from '@tradepost/embedded-postgres';
import { createDatabaseCommand, openDatabase } from '@tradepost/postgres';
import type { Config } from './config/fields.ts';
import { alreadyRunning, type InstanceLock, tryInstanceLock } from './config/instance-lock.ts';
import type { Log } from './observability/log.ts';

export type DatabaseServerOptions = {
  readonly config: Config;
  readonly serve?: boolean | undefined;
  readonly onProgress?: ((line: string) => void) | undefined;
  /** The embedded database cannot be started again, or belongs to another process. */
  readonly onFatal?: ((reason: string) => void) | undefined;
  /** For an embedded database of another major version of PostgreSQL: the binaries that run it. */
  readonly platform?: PlatformPackage | undefined;
};

export type DatabaseServer = {
  readonly url: string;
  readonly embedded: EmbeddedPostgres | null;
  readonly lock: InstanceLock | null;
  /** Whether the embedded database has ended and is being started again. */
  isAway(): boolean;
  close(): Promise<void>;
};

/** A certificate whose authority is not known here. */
const unknownAuthority = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];
const unknownParameter = '42704';

/** How to correct the fault, or nothing. */
export function hintFor(code: unknown, databaseUrl: string): string {
  if (code === '3D000') return ` Create it: ${createDatabaseCommand(databaseUrl)}`;
  if (unknownAuthority.some((one) => one === code))
    return ' NODE_EXTRA_CA_CERTS=FILE names the certificate of its authority';
  if (code === unknownParameter && new URL(databaseUrl).searchParams.has('sslrootcert'))
    return ' Instead of sslrootcert, NODE_EXTRA_CA_CERTS=FILE names the certificate of the authority';
  return '';
}

/** Rejects with a message that says how to correct the fault. The message does not contain the password. */
async function reachable(databaseUrl: string): Promise<void> {
  const sql = openDatabase(databaseUrl, { max: 1, name: 'tradepost start' });
  try {
    await sql`select 1`;
  } catch (error) {
    const { host } = new URL(databaseUrl);
    throw new Error(
      `PostgreSQL at ${host} cannot be used (DATABASE_URL): ${(error as Error).message}.${hintFor((error as { code?: unknown }).code, databaseUrl)}`,
    );
  } finally {
    await sql.end({ timeout: 1 });
  }
}

const never = () => false;

/** Says what to do about an embedded database of another major version of PostgreSQL. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof OtherMajorError)) return error;
  const advice =
    error.major < error.installed
      ? '`tradepost start` and `tradepost migrate` upgrade it, and keep the old one'
      : 'run the version of Tradepost that used it, or restore a backup into another data folder';
  return new Error(`${error.message}: ${advice}`, { cause: error });
}

/**
 * Opens the database server of a configuration: the external one, or the embedded one, which is started when it does not run.
 * `close` stops an embedded server that no other process uses. With `serve` this process is the only one that serves the embedded
 * database. Nothing is migrated.
 */
export async function openDatabaseServer(options: DatabaseServerOptions, log: Log): Promise<DatabaseServer> {
  const { config, serve, onProgress } = options;
  if (config.databaseUrl) {
    await reachable(config.databaseUrl);
    return { url: config.databaseUrl, embedded: null, lock: null, isAway: never, close: async () => {} };
  }
  await mkdir(config.data, { recursive: true });
  // A command that is ending may stop the database between this start and the lock. So the start is repeated before it
  // fails.
  if (serve) onProgress?.('starting the embedded PostgreSQL');
  const start = {
    directory: join(config.data, 'postgres'),
    onLog: (line: string) => log.debug({ postgres: line }, 'embedded PostgreSQL'),
    ...(options.platform ? { platform: options.platform } : {}),
  };
  let lock: InstanceLock | null = null;
  const supervised = () =>
    superviseEmbeddedPostgres({
      ...start,
      onAway: (reason) => log.error({ reason }, 'the embedded PostgreSQL has ended, and is started again'),
      onBack: (awayMs) => {
        lock?.renew();
        log.info({ awayMs: Math.round(awayMs) }, 'the embedded PostgreSQL is back');
      },
      onFatal: (reason) => options.onFatal?.(reason),
    });
  for (let attempt = 0; ; attempt += 1) {
    const visited = async () => ({ ...(await startEmbeddedPostgres(start)), isAway: never, leave() {} });
    const embedded = await (serve ? supervised() : visited()).catch((error: unknown) => {
      throw withAdvice(error);
    });
    const lost = () => options.onFatal?.('another process now serves the embedded database');
    const kind = serve ? 'serve' : 'visit';
    lock = await tryInstanceLock(embedded.url, config.data, kind, lost).catch(() => null);
    if (lock) {
      const held = lock;
      const close = () => held.leave(() => embedded.stop());
      return { url: embedded.url, embedded, lock, isAway: embedded.isAway, close };
    }
    embedded.leave();
    if (attempt === 4)
      throw serve ? await alreadyRunning(config.data) : new Error('The embedded database is being stopped: try again');
    await sleep(300);
  }
}
