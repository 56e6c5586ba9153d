import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { settings } from '@tradepost/app';
import { startEmbeddedPostgres } from '@tradepost/embedded-postgres';
import { openTokens, type Tokens } from '@tradepost/identity';
import type { Sql } from '@tradepost/postgres';
import { loadConfig, openLog, openRuntime } from '@tradepost/runtime';
import { defer } from '@tradepost/testing/processes/cleanup';
import { type LoadJob, type LoadResult, runLoad } from './load.ts';
import { cpuSeconds } from './usage.ts';

const repository = join(import.meta.dirname, '../..');

export async function temporaryFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'tradepost-bench-'));
  return { path, remove: defer(() => rm(path, { recursive: true, force: true })) };
}

export type Cluster = {
  url: string;
  postmaster: number;
  sql: Sql;
  tokens: Tokens;
  version: string;
  fsync: string;
  stop(): Promise<void>;
};

export const postmasterOf = (dataDirectory: string): number =>
  Number(readFileSync(join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n')[0]);

/** Starts an embedded PostgreSQL as the shop does (fsync on), with migrations and the token issuer of the shop. */
export async function startCluster(): Promise<Cluster> {
  const folder = await temporaryFolder();
  const postgres = await startEmbeddedPostgres({ directory: folder.path });
  const stopPostgres = defer(() => postgres.stop());
  const { config } = loadConfig({ env: {}, flags: { databaseUrl: postgres.url, data: folder.path, databasePool: 2 } });
  const runtime = await openRuntime({ config, definitions: settings, log: openLog({ level: 'warn' }) });
  await runtime.settings.set('pay.instant', true);
  const tokens = await openTokens(runtime);
  const close = defer(async () => {
    await tokens.close();
    await runtime.close();
  });
  const [about] = await runtime.sql<{ version: string; fsync: string }[]>`
    select current_setting('server_version') as version, current_setting('fsync') as fsync`;
  return {
    url: postgres.url,
    postmaster: postmasterOf(postgres.dataDirectory),
    sql: runtime.sql,
    tokens,
    ...about!,
    async stop() {
      await close();
      await stopPostgres();
      await folder.remove();
    },
  };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

export type Process = { pid: number; port: number; url: string; startedMs: number; stop(): Promise<void> };

/** Starts a script as a child process that serves on `port`. Resolves when `path` answers 200. */
export async function startProcess(
  args: readonly string[],
  options: { port: number; env: Record<string, string>; path: string },
): Promise<Process> {
  const { port, env, path } = options;
  const url = `http://127.0.0.1:${port}`;
  const began = performance.now();
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: repository,
    env: { PATH, HOME, LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const stop = defer(async () => {
    child.kill('SIGTERM');
    const patience = setTimeout(() => child.kill('SIGKILL'), 20_000);
    const code = await ended;
    clearTimeout(patience);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code} on SIGTERM instead of 0`);
  });
  for (;;) {
    const answer = await fetch(url + path, { signal: AbortSignal.timeout(1_000) }).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 200) break;
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${child.exitCode} instead of serving`);
    if (performance.now() - began > 60_000) throw new Error(`${args.join(' ')} does not serve after a minute`);
    await sleep(5);
  }
  return { pid: child.pid!, port, url, startedMs: performance.now() - began, stop };
}

export type ShopOptions = {
  env?: Record<string, string>;
  /** An existing data folder. Without `databaseUrl` it has the embedded database. */
  data: string;
  databaseUrl?: string;
  /** Folder for a CPU profile of the server. */
  profile?: string | undefined;
};

/** Runs `tradepost start` as a user does, with API and worker in one process. */
export async function startShop({ env = {}, data, databaseUrl, profile }: ShopOptions): Promise<Process> {
  const port = await freePort();
  // Options as in `npm start` and `npx tradepost`.
  const heap = '--max-old-space-size=384';
  const node = profile ? [heap, '--cpu-prof', `--cpu-prof-dir=${profile}`] : [heap];
  const args = [
    ...node,
    'bin/tradepost.ts',
    'start',
    '--seed',
    'none',
    '--data',
    data,
    '--port',
    String(port),
    '--gateway-port',
    '0',
  ];
  const database: Record<string, string> = databaseUrl ? { DATABASE_URL: databaseUrl } : {};
  return startProcess(args, { port, env: { ...database, ...env }, path: '/health' });
}

/** SQL statements that this server has sent since its start. */
export async function statementsOf(server: Process): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^db_statements_total (\d+)/m.exec(text)?.[1] ?? Number.NaN);
}

export type Measured = LoadResult & {
  statementsPerUnit: number;
  /** CPU microseconds per unit of work of each process; null where /proc is not available. */
  apiCpu: number | null;
  postgresCpu: number | null;
};

/** Runs one load on a server. Measures SQL statements and CPU of the API process and of PostgreSQL per unit. */
export async function measure(server: Process, cluster: Cluster, job: Omit<LoadJob, 'port'>): Promise<Measured> {
  const read = async () => ({
    api: cpuSeconds(server.pid),
    postgres: cpuSeconds(cluster.postmaster, { tree: true }),
    statements: await statementsOf(server),
  });
  const edges: Record<string, ReturnType<typeof read>> = {};
  const result = await runLoad({ ...job, port: server.port } as LoadJob, (edge) => {
    edges[edge] = read();
  });
  const [before, after] = [await edges.begin!, await edges.end!];
  const perUnit = (from: number | null, to: number | null) =>
    from === null || to === null ? null : ((to - from) / result.units) * 1e6;
  return {
    ...result,
    statementsPerUnit: (after.statements - before.statements) / result.units,
    apiCpu: perUnit(before.api, after.api),
    postgresCpu: perUnit(before.postgres, after.postgres),
  };
}
