import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgres } from '@tradepost/postgres';
import { ensureCluster, readPassword } from './cluster.ts';
import { choosePlace, dataOf } from './folders.ts';
import { followLog } from './log.ts';
import { endOrphans } from './orphans.ts';
import { isRunning, type PidFile, readPidFile, removeStalePidFile, serverState } from './pid.ts';
import { launch, type Server, shutDown, untilReady, watch } from './server.ts';
import { codeOf, defaultShared, messageOf } from './system.ts';

export type EmbeddedPostgres = {
  url: string;
  /** A server left running by a killed process was taken over, with the settings it was started with. */
  adopted: boolean;
  /** The cluster was made by this start. */
  created: boolean;
  dataDirectory: string;
  /** Fast shutdown, immediate after the deadline. May be called again. */
  stop(): Promise<void>;
};

export type EmbeddedPostgresOptions = {
  directory: string;
  /** Server settings over the defaults below. */
  settings?: Record<string, string>;
  onLog?: (line: string) => void;
  /** The server died although nobody stopped it. */
  onExit?: (reason: string) => void;
  /** Where the server was before it ended; it is waited for until it is free. Default: a free one. */
  port?: number;
  /** Where root keeps what the server's account can not reach in its place. Default /var/lib/tradepost. */
  sharedDirectory?: string;
  /** Where `create database` is run from. */
  maintenanceDatabase?: string;
};

/** Two starts at once, a server being stopped, or the processes of a killed one that have not yet noticed. */
const contestedMs = 45_000;
/** What the processes of a killed server get to notice that it is gone, before they are ended. */
const orphansMs = 1_000;

/** Starts the embedded server, or takes over the one that a killed process left behind. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const log = options.onLog ?? (() => {});
  const directory = resolve(options.directory);
  const place = await choosePlace(directory, options.sharedDirectory ?? defaultShared, log);
  const created = await ensureCluster(place);
  const password = await readPassword(place.home);
  const data = dataOf(place.home);
  const logFile = join(directory, 'server.log');
  const started = Date.now();
  // Processes that know a killed server find the next one in its place, whoever starts it.
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
        // Another process is stopping it at this moment: a new one follows.
        if ((server.gone() || /^(57P0|ECONN|CONN)/.test(codeOf(error) ?? '')) && Date.now() - started < contestedMs) {
          await sleep(50);
          continue;
        }
        if (!found) await shutDown(server, place);
        throw new Error(
          `PostgreSQL (pid ${server.pid}) runs in ${data} but can not be used with the password in ` +
            `${join(place.home, 'cluster', 'password')}: ${messageOf(error)}` +
            (found ? `. Stop it (kill -INT ${server.pid}) and start again` : ''),
          { cause: error },
        );
      }
      const stop = watch(server, place, follower.poll, options.onExit, logFile);
      return { url: urlOf(password, server.port, 'tradepost'), adopted: !!found, created, dataDirectory: data, stop };
    }
    // The port was taken between the choice and the bind, or since the server before had it.
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

const urlOf = (password: string, port: number, database: string) =>
  `postgres://tradepost:${password}@127.0.0.1:${port}/${database}`;

async function connected<T>(url: string, use: (sql: ReturnType<typeof postgres>) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, ssl: false, fetch_types: false, onnotice: () => {} });
  return use(sql).finally(() => sql.end({ timeout: 1 }));
}

/** Asked on every start: the first one may have been cut short after initdb. */
async function ensureDatabase(url: string): Promise<void> {
  await connected(url, async (sql) => {
    if ((await sql`select 1 from pg_database where datname = 'tradepost'`).length > 0) return;
    await sql`create database tradepost`.catch((error: { code?: string }) => {
      // Another start was faster: duplicate database, or its unique violation.
      if (error.code !== '42P04' && error.code !== '23505') throw error;
    });
  });
}

/** The living server of this cluster, once it takes connections. Clears a pid file that would stop a new one. */
async function findServer(data: string, password: string, log: (line: string) => void): Promise<Server | undefined> {
  const file = readPidFile(data);
  if (!file) return undefined;
  const state = serverState(file, data);
  // PostgreSQL clears the file of a dead server itself, and refuses to start beside a single-user one (negative pid).
  if (state === 'gone' || file.pid < 0) return undefined;
  if (state === 'other') await removeStalePidFile(data, file);
  if (state === 'other') return undefined;
  if (state === 'unknown' && !(await answersFor(file, data, password))) return undefined;
  const gone = () => !isRunning(file.pid, data);
  const port = await untilReady(data, file.pid, gone, log);
  return port ? { pid: file.pid, port, gone, exitReason: () => 'its process is gone' } : undefined;
}

/** Where processes can not be looked into: a server that knows the password and names this directory is ours. */
async function answersFor(file: PidFile, data: string, password: string): Promise<boolean> {
  return connected(urlOf(password, file.port, 'postgres'), async (sql) => {
    const [row] = await sql`select current_setting('data_directory') as path`;
    return resolve(row?.path) === data;
  }).catch(() => false);
}
