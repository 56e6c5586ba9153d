import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '@tradepost/postgres';
import { defer } from '@tradepost/testing/processes/cleanup';
import { freePort } from './server.ts';

/** The programs of a PostgreSQL installation of this machine. */
export type Programs = { readonly folder: string; readonly major: number };

/** Runs a program to its end. Resolves with its output; rejects with its errors. */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: { env?: Record<string, string>; uid?: number; gid?: number } = {},
): Promise<{ stdout: string; seconds: number; peakBytes: number }> {
  const begun = performance.now();
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(file, args, {
    ...options,
    env: { PATH, HOME, LOG_LEVEL: 'error', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr, peakBytes] = ['', '', 0];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  const watch = setInterval(() => {
    const found = readPeak(child.pid!);
    if (found !== null) peakBytes = Math.max(peakBytes, found);
  }, 100);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(watch);
  if (code !== 0) throw new Error(`${file} ${args[0] ?? ''} ended with ${code}: ${stderr.slice(-1_000)}`);
  return { stdout, seconds: (performance.now() - begun) / 1000, peakBytes };
}

/** The largest memory of a process so far. Null where /proc is not available. */
function readPeak(pid: number): number | null {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024 || null;
  } catch {
    return null;
  }
}

/** The newest PostgreSQL of this machine with `pg_dump` and a server, as Debian installs it. Null when no version is installed. */
export async function findPrograms(): Promise<Programs | null> {
  const folders = globSync('/usr/lib/postgresql/*/bin').filter((folder) =>
    ['pg_dump', 'pg_restore', 'initdb', 'postgres'].every((name) => globSync(join(folder, name)).length > 0),
  );
  const found = folders.map((folder) => ({ folder, major: Number(folder.split('/').at(-2)) }));
  return found.sort((a, b) => b.major - a.major)[0] ?? null;
}

/** The account for a server that root starts. */
async function accountOf(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const id = async (flag: string) => Number((await runProgram('id', [flag, 'postgres'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}

/** Starts a server of these programs with the settings of the embedded one that matter for the figures. */
export async function startServerOf({ folder }: Programs, parent: string): Promise<{ url: string }> {
  const account = await accountOf();
  await chmod(parent, 0o755);
  const data = join(parent, 'server');
  await mkdir(data);
  if (account.uid !== undefined) await chown(data, account.uid, account.gid!);
  await runProgram(
    join(folder, 'initdb'),
    ['-D', data, '-U', 'tradepost', '-A', 'trust', '-E', 'UTF8', '--locale=C'],
    account,
  );
  const port = await freePort();
  const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: data, shared_buffers: '128MB' };
  const args = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const server = spawn(join(folder, 'postgres'), ['-D', data, ...args], { ...account, stdio: 'ignore' });
  const ended = once(server, 'close');
  defer(async () => {
    server.kill('SIGINT');
    await ended;
  });
  const url = `postgres://tradepost@127.0.0.1:${port}/postgres`;
  for (let attempt = 0; ; attempt += 1) {
    const sql = openDatabase(url, { max: 1 });
    const failed = await sql`select 1`.then(
      () => null,
      (error: unknown) => error,
    );
    await sql.end({ timeout: 1 });
    if (!failed) return { url };
    if (attempt === 100) throw failed;
    await sleep(100);
  }
}
