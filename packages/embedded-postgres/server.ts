import { spawn } from 'node:child_process';
import { closeSync, fchownSync, openSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { dataOf, type Place } from './folders.ts';
import { readFrom } from './log.ts';
import { readPidFile } from './pid.ts';
import { codeOf, run, serverEnvironment } from './system.ts';

export type Server = { pid: number; port: number; gone: () => boolean; exitReason: () => string };

/**
 * Durability keeps the defaults of PostgreSQL: fsync, synchronous_commit and full_page_writes are on, wal_level is
 * replica.
 */
const defaults: Record<string, string> = {
  max_connections: '100',
  // The working set of a shop. A page takes memory only when it is used.
  shared_buffers: '256MB',
  // Fewer checkpoints cause fewer full-page writes. They cost disk space and a longer recovery, both bounded by this
  // size.
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  // Compiling takes longer than the short queries of a shop.
  jit: 'off',
  // For SSDs. With the default of 4 the planner avoids indexes.
  random_page_cost: '1.1',
  // In this setting LOG ranks above ERROR, so starts and checkpoints are logged too.
  log_min_messages: 'warning',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Settings that PostgreSQL has since this major version. */
const since: readonly (readonly [major: number, name: string, value: string])[] = [
  // Most data is in memory. The default passes reads to worker processes, which only adds context switches.
  [18, 'io_method', 'sync'],
];
const newerDefaults = (major: number) =>
  Object.fromEntries(since.flatMap(([from, name, value]) => (major >= from ? [[name, value]] : [])));

/** Settings that callers cannot change: the address of the server, and the destination of its log. */
const fixed: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  log_destination: 'stderr',
  logging_collector: 'off',
};

/** Recovery after a crash replays up to max_wal_size, which takes minutes on a slow disk. */
const startMs = 300_000;
const fastStopMs = 30_000;
const immediateStopMs = 10_000;
/** The interval of the check for an unexpected end. */
const watchMs = 200;

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer().once('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => done(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/** Resolves with the port when the server accepts connections, or with undefined when it has ended. */
export async function untilReady(data: string, pid: number, gone: () => boolean, log: (line: string) => void) {
  const began = Date.now();
  for (let loggedAt = began; ; ) {
    if (gone()) return undefined;
    const file = readPidFile(data);
    if (file?.pid === pid && file.status === 'ready' && file.port > 0) return file.port;
    const now = Date.now();
    if (now - began > startMs)
      throw new Error(`PostgreSQL (pid ${pid}) in ${data} is not ready after ${startMs / 1000} s (${file?.status})`);
    if (now - loggedAt > 10_000) {
      log(`PostgreSQL in ${data} is not ready yet (${file?.status || 'no status'})`);
      loggedAt = now;
    }
    await sleep(now - began < 1000 ? 10 : 50);
  }
}

export async function launch(
  place: Place,
  options: {
    settings: Record<string, string>;
    /** Default: a free port. */
    port: number | undefined;
    logFile: string;
    log: (line: string) => void;
  },
): Promise<Server | { failure: string }> {
  const { settings, logFile, log } = options;
  const data = dataOf(place.home);
  // A file and not a pipe: the server survives a killed parent, and then a pipe would be broken.
  const output = openSync(logFile, 'a', 0o600);
  const from = statSync(logFile).size;
  // Root may start the server now and the owner of the cluster later. Both append to the file.
  const { uid, gid } = place.account;
  if (uid !== undefined && gid !== undefined) fchownSync(output, uid, gid);
  const all = {
    ...defaults,
    ...newerDefaults(place.major),
    ...settings,
    ...fixed,
    port: String(options.port || (await freePort())),
  };
  const child = spawn(
    place.binaries.postgres,
    ['-D', data, ...Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`])],
    {
      ...place.account,
      cwd: place.home,
      env: serverEnvironment(),
      stdio: ['ignore', output, output],
      // A session of its own: Ctrl-C in the terminal signals only this process, which then stops the server.
      detached: true,
      windowsHide: true,
    },
  );
  closeSync(output);
  let ended: string | undefined;
  child.once('error', (error) => {
    ended ??= error.message;
  });
  child.once('exit', (code, signal) => {
    ended ??= signal ? `signal ${signal}` : `exit code ${code}`;
  });
  child.unref();
  const server = { pid: child.pid ?? 0, gone: () => ended !== undefined, exitReason: () => ended ?? '' };
  try {
    const port = await untilReady(data, server.pid, server.gone, log);
    if (port) return { ...server, port };
  } catch (error) {
    await shutDown({ ...server, port: 0 }, place);
    throw error;
  }
  const lines = readFrom(logFile, from).toString().trim().split('\n').slice(-20);
  return { failure: [...lines, ended].join('\n') };
}

/** Reports an unexpected end of the server. Returns the function that stops the server. */
export function watch(
  server: Server,
  place: Place,
  pollLog: () => void,
  onExit: ((reason: string) => void) | undefined,
  logFile: string,
): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const timer = setInterval(() => {
    pollLog();
    if (!server.gone()) return;
    clearInterval(timer);
    if (!stopping)
      onExit?.(`PostgreSQL (pid ${server.pid}) ended unexpectedly: ${server.exitReason()}; see ${logFile}`);
  }, watchMs);
  // Neither the server nor this timer keeps the process alive.
  timer.unref();
  return () => {
    stopping ??= shutDown(server, place).finally(() => {
      clearInterval(timer);
      pollLog();
    });
    return stopping;
  };
}

export async function shutDown({ pid, gone }: Server, place: Place): Promise<void> {
  const signal = async (name: 'SIGINT' | 'SIGQUIT', mode: string) => {
    if (gone()) return;
    // Windows does not have these signals; pg_ctl works there.
    if (process.platform === 'win32')
      await run(place.binaries.pg_ctl, ['stop', '-W', '-m', mode, '-D', dataOf(place.home)]);
    else
      try {
        process.kill(pid, name);
      } catch (error) {
        // It has just ended.
        if (codeOf(error) !== 'ESRCH') throw error;
      }
  };
  const goneWithin = async (ms: number) => {
    for (const end = Date.now() + ms; !gone() && Date.now() < end; ) await sleep(10);
    return gone();
  };
  await signal('SIGINT', 'fast');
  if (await goneWithin(fastStopMs)) return;
  // No data is lost: the next start recovers from the WAL.
  await signal('SIGQUIT', 'immediate');
  if (!(await goneWithin(immediateStopMs)))
    throw new Error(`PostgreSQL (pid ${pid}) in ${dataOf(place.home)} does not stop: end it with kill -9 ${pid}`);
}
