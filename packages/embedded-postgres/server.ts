import { spawn } from 'node:child_process';
import { closeSync, fchownSync, openSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { dataOf, type Place } from './folders.ts';
import { readFrom } from './log.ts';
import { readPidFile } from './pid.ts';
import { codeOf, run, serverEnvironment } from './system.ts';

export type Server = { pid: number; port: number; gone: () => boolean; exitReason: () => string };

/** Durability (fsync, synchronous_commit, full_page_writes, wal_level=replica) stays as PostgreSQL has it: all on. */
const defaults: Record<string, string> = {
  max_connections: '100',
  // The working set of a shop; pages take memory only once they are used.
  shared_buffers: '256MB',
  // Fewer checkpoints, so fewer full-page writes; the price is disk space and a longer recovery, bounded by the size.
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  // Compiling costs more than the short queries of a shop.
  jit: 'off',
  // SSDs; the default of 4 makes the planner shun indexes.
  random_page_cost: '1.1',
  // Data is mostly in memory, where handing reads to the worker processes of the default only adds switches.
  io_method: 'sync',
  // LOG ranks above ERROR here, so starts and checkpoints are logged too.
  log_min_messages: 'warning',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Not for settings to change: how the server is reached and found, and where its log goes. */
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
/** How soon an unexpected end is noticed. */
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

/** The port once the server takes connections, undefined when it is gone. */
export async function untilReady(data: string, pid: number, gone: () => boolean, log: (line: string) => void) {
  const began = Date.now();
  for (let told = began; ; ) {
    if (gone()) return undefined;
    const file = readPidFile(data);
    if (file?.pid === pid && file.status === 'ready' && file.port > 0) return file.port;
    const now = Date.now();
    if (now - began > startMs)
      throw new Error(`PostgreSQL (pid ${pid}) in ${data} is not ready after ${startMs / 1000} s (${file?.status})`);
    if (now - told > 10_000) log(`PostgreSQL in ${data} is not ready yet (${file?.status || 'no status'})`);
    if (now - told > 10_000) told = now;
    await sleep(now - began < 1000 ? 10 : 50);
  }
}

export async function launch(
  place: Place,
  options: {
    settings: Record<string, string>;
    /** A free one when absent. */
    port: number | undefined;
    logFile: string;
    log: (line: string) => void;
  },
): Promise<Server | { failure: string }> {
  const { settings, logFile, log } = options;
  const data = dataOf(place.home);
  // A file, not a pipe: the server outlives a killed parent, and a broken pipe would take its log away.
  const output = openSync(logFile, 'a', 0o600);
  const from = statSync(logFile).size;
  // Started by root now and by the owner of the cluster later: both append to it.
  const { uid, gid } = place.account;
  if (uid !== undefined && gid !== undefined) fchownSync(output, uid, gid);
  const all = { ...defaults, ...settings, ...fixed, port: String(options.port || (await freePort())) };
  const child = spawn(
    place.binaries.postgres,
    ['-D', data, ...Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`])],
    {
      ...place.account,
      cwd: place.home,
      env: serverEnvironment(),
      stdio: ['ignore', output, output],
      // Its own session: Ctrl-C in the terminal reaches us, and we stop it in order.
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

/** Reports a death nobody asked for, and returns what stops the server. */
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
  // Neither the server nor its watch keeps the process alive.
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
    // Windows has no such signals: pg_ctl has its own way.
    if (process.platform === 'win32')
      await run(place.binaries.pg_ctl, ['stop', '-W', '-m', mode, '-D', dataOf(place.home)]);
    else
      try {
        process.kill(pid, name);
      } catch (error) {
        // It ended in this moment.
        if (codeOf(error) !== 'ESRCH') throw error;
      }
  };
  const goneWithin = async (ms: number) => {
    for (const end = Date.now() + ms; !gone() && Date.now() < end; ) await sleep(10);
    return gone();
  };
  await signal('SIGINT', 'fast');
  if (await goneWithin(fastStopMs)) return;
  // Loses nothing: the next start recovers from the write-ahead log.
  await signal('SIGQUIT', 'immediate');
  if (!(await goneWithin(immediateStopMs)))
    throw new Error(`PostgreSQL (pid ${pid}) in ${dataOf(place.home)} does not stop: end it with kill -9 ${pid}`);
}
