import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgres } from '@tradepost/postgres';
import { findPackage, type PlatformPackage } from './binaries.ts';
import { ensureCluster, readPassword } from './cluster.ts';
import { findEmbeddedPostgres } from './find.ts';
import { choosePlace, dataOf } from './folders.ts';
import { followLog } from './log.ts';
import { refuseOtherMajor } from './major-version.ts';
import { endOrphans } from './orphans.ts';
import { isRunning, type PidFile, readPidFile, removeStalePidFile, serverState } from './pid.ts';
import { launch, type Server, shutDown, untilReady, watch } from './server.ts';
import { codeOf, defaultShared, messageOf } from './system.ts';

export type EmbeddedPostgres = {
  url: string;
  /** A server that a killed process left running is used, with the settings that it was started with. */
  adopted: boolean;
  /** This start created the cluster. */
  created: boolean;
  dataDirectory: string;
  /** Stops the server: fast shutdown, then immediate shutdown after the deadline. It may be called again. */
  stop(): Promise<void>;
};

export type EmbeddedPostgresOptions = {
  directory: string;
  /** Server settings. They override the defaults of `server.ts`. */
  settings?: Record<string, string>;
  onLog?: (line: string) => void;
  /** The server has ended and was not stopped. */
  onExit?: (reason: string) => void;
  /** The port of the server before it ended. The start waits until it is free. Default: a free port. */
  port?: number;
  /**
   * The folder for clusters and binaries that the account of the server cannot reach in their own folder. Default:
   * /var/lib/tradepost.
   */
  sharedDirectory?: string;
  /** The database from which `create database` is run. */
  maintenanceDatabase?: string;
  /** The binaries to run, for a cluster of another major version. Default: those that are installed. */
  platform?: PlatformPackage;
};

/** How long a start waits for another start, for a server that is stopping, or for processes of a killed server. */
const contestedMs = 45_000;
/** How long the processes of a killed server have to end by themselves. */
const orphansMs = 1_000;

/** Starts the embedded server, or adopts the server that a killed process left running. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const log = options.onLog ?? (() => {});
  const directory = resolve(options.directory);
  const shared = options.sharedDirectory ?? defaultShared;
  const place = await choosePlace(directory, shared, log, options.platform ?? (await findPackage()));
  const created = await ensureCluster(place);
  await refuseOtherMajor(place);
  const password = await readPassword(place.home);
  const data = dataOf(place.home);
  const logFile = join(directory, 'server.log');
  const started = Date.now();
  // The same port as before: processes that used a killed server find the next one there.
  const lastPort = options.port ?? readPidFile(data)?.port;
  for (let ports = 0; ; ) {
    const found = await findServer(data, password, log);
    const follower = followLog(logFile, log);
    const server =
      found ??
      (await launch(place, {
        settings: options.settings ?? {},
        port: ports === 0 ? lastPort : undefined,
        logFile,
        log,
      }));
    if (!('failure' in server)) {
      follower.poll();
      try {
        await ensureDatabase(urlOf(password, server.port, options.maintenanceDatabase ?? 'postgres'));
      } catch (error) {
        // Another process is stopping the server. A new one is started.
        if ((server.gone() || /^(57P0|ECONN|CONN)/.test(codeOf(error) ?? '')) && Date.now() - started < contestedMs) {
          await sleep(50);
          continue;
        }
        if (!found) await shutDown(server, place);
        throw new Error(
          `PostgreSQL (pid ${server.pid}) runs in ${data} but cannot be used with the password in ` +
            `${join(place.home, 'cluster', 'password')}: ${messageOf(error)}` +
            (found ? `. Stop it (kill -INT ${server.pid}) and start again` : ''),
          { cause: error },
        );
      }
      const stop = watch(server, place, follower.poll, options.onExit, logFile);
      return { url: urlOf(password, server.port, 'tradepost'), adopted: !!found, created, dataDirectory: data, stop };
    }
    // Another process has taken the port, after the choice or after the previous server ended.
    const isTaken = /could not (bind|create any TCP)/.test(server.failure);
    if (isTaken && options.port === undefined && ports++ < 5) continue;
    const contested = /lock file "postmaster.pid" (already exists|is empty)|shared memory block .* still in use/;
    if (!(isTaken || contested.test(server.failure)) || Date.now() - started > contestedMs)
      throw new Error(`PostgreSQL did not start in ${data}; the end of ${logFile}:\n${server.failure}`);
    if (/shared memory block/.test(server.failure) && Date.now() - started > orphansMs) {
      const ended = endOrphans(data);
      if (ended > 0) log(`ended ${ended} processes of a killed PostgreSQL in ${data}`);
    }
    await sleep(200);
  }
}

/** Stops the server of a folder, if one runs. Its processes may be those of a killed program. */
export async function stopEmbeddedPostgres(
  options: Pick<EmbeddedPostgresOptions, 'directory' | 'sharedDirectory' | 'platform'>,
): Promise<void> {
  const found = await findEmbeddedPostgres(options.directory);
  if (found.state !== 'running') return;
  const server = await startEmbeddedPostgres(options);
  await server.stop();
}

const urlOf = (password: string, port: number, database: string) =>
  `postgres://tradepost:${password}@127.0.0.1:${port}/${database}`;

async function connected<T>(url: string, use: (sql: ReturnType<typeof postgres>) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, ssl: false, fetch_types: false, onnotice: () => {} });
  return use(sql).finally(() => sql.end({ timeout: 1 }));
}

/**
 * Creates the database when it does not exist. Called at every start: the first one may have been interrupted after
 * initdb.
 */
async function ensureDatabase(url: string): Promise<void> {
  await connected(url, async (sql) => {
    if ((await sql`select 1 from pg_database where datname = 'tradepost'`).length > 0) return;
    await sql`create database tradepost`.catch((error: { code?: string }) => {
      // Another start was faster: the database exists (42P04), or its row does (23505).
      if (error.code !== '42P04' && error.code !== '23505') throw error;
    });
  });
}

/**
 * The running server of this cluster, as soon as it accepts connections. Removes a stale pid file that would prevent a
 * start.
 */
async function findServer(data: string, password: string, log: (line: string) => void): Promise<Server | undefined> {
  const file = readPidFile(data);
  if (!file) return undefined;
  const state = serverState(file, data);
  // PostgreSQL removes the file of an ended server itself. It refuses to start beside a single-user one (negative pid).
  if (state === 'gone' || file.pid < 0) return undefined;
  if (state === 'other') await removeStalePidFile(data, file);
  if (state === 'other') return undefined;
  if (state === 'unknown' && !(await answersFor(file, data, password))) return undefined;
  const gone = () => !isRunning(file.pid, data);
  const port = await untilReady(data, file.pid, gone, log);
  return port ? { pid: file.pid, port, gone, exitReason: () => 'its process is gone' } : undefined;
}

/**
 * For systems that do not report whose process has a pid: a server that accepts the password and reports this data
 * directory is ours.
 */
async function answersFor(file: PidFile, data: string, password: string): Promise<boolean> {
  return connected(urlOf(password, file.port, 'postgres'), async (sql) => {
    const [row] = await sql`select current_setting('data_directory') as path`;
    return resolve(row?.path) === data;
  }).catch(() => false);
}
