import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { chmod, cp, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { postgres } from '@tradepost/postgres';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readPidFile, serverState } from './pid.ts';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './start-embedded-postgres.ts';

let base: string;
/** Not the default folder: a test must not touch the shops of this machine. */
let shared: string;
let script: string;
let names = 0;
const running: EmbeddedPostgres[] = [];
const children: ChildProcess[] = [];
const dataDirectories = new Set<string>();

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'embedded-postgres-test-'));
  await chmod(base, 0o755);
  shared = join(base, 'shared');
  script = join(base, 'start.mjs');
  writeFileSync(
    script,
    `import { startEmbeddedPostgres } from ${JSON.stringify(new URL('./start-embedded-postgres.ts', import.meta.url).href)};
const started = await startEmbeddedPostgres({ directory: process.argv[2], sharedDirectory: ${JSON.stringify(shared)} });
console.log(JSON.stringify(started));
if (process.argv[3] !== 'leave') setInterval(() => {}, 1000);
`,
  );
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(running.splice(0).map((server) => server.stop()));
  for (const data of dataDirectories) {
    const file = existsSync(data) ? readPidFile(data) : undefined;
    if (file && serverState(file, data) === 'ours') process.kill(file.pid, 'SIGQUIT');
    await until(() => !file || serverState(file, data) !== 'ours');
  }
  dataDirectories.clear();
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

type Start = typeof startEmbeddedPostgres;

const directory = () => join(base, `shop${names++}`, 'postgres');

async function start(
  path: string,
  options: Partial<EmbeddedPostgresOptions> = {},
  by: Start = startEmbeddedPostgres,
): Promise<EmbeddedPostgres> {
  const server = await by({ directory: path, sharedDirectory: shared, ...options });
  dataDirectories.add(server.dataDirectory);
  running.push(server);
  return server;
}

function spawnStart(path: string, ...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [script, path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  dataDirectories.add(join(path, 'cluster', 'data'));
  return child;
}

async function startedBy(child: ChildProcess): Promise<EmbeddedPostgres> {
  let text = '';
  for await (const chunk of child.stdout!) {
    text += chunk;
    if (text.endsWith('\n')) break;
  }
  return JSON.parse(text) as EmbeddedPostgres;
}

async function until(condition: () => boolean, ms = 10_000): Promise<void> {
  for (const end = Date.now() + ms; !condition(); await sleep(10))
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${condition}`);
}

async function query<T>(url: string, use: (sql: ReturnType<typeof postgres>) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  return use(sql).finally(() => sql.end());
}

const write = (url: string, value: string) =>
  query(url, async (sql) => {
    await sql`create table if not exists kept (value text)`;
    await sql`insert into kept values (${value})`;
  });
const read = (url: string) => query(url, async (sql) => (await sql`select value from kept`).map((row) => row.value));

const pidOf = (server: EmbeddedPostgres) => readPidFile(server.dataDirectory)!.pid;

async function killAll(server: EmbeddedPostgres): Promise<number> {
  const pid = pidOf(server);
  const found = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  for (const each of [pid, ...found.trim().split(/\s+/).map(Number)]) process.kill(each, 'SIGKILL');
  await until(() => !existsSync(`/proc/${pid}/cwd`));
  return pid;
}

describe.skipIf(process.platform !== 'linux')('the embedded PostgreSQL server', () => {
  test('starts on an empty directory, and keeps its data', async () => {
    const path = directory();
    const lines: string[] = [];
    const first = await start(path, { onLog: (line) => lines.push(line), settings: { work_mem: '7MB' } });
    expect(first).toMatchObject({ created: true, adopted: false, dataDirectory: join(path, 'cluster', 'data') });
    const [row] = await query(
      first.url,
      (sql) => sql`select current_setting('work_mem') as memory, current_setting('fsync') as fsync,
        current_setting('listen_addresses') as addresses, current_setting('timezone') as zone,
        (select datlocprovider::text || datlocale from pg_database where datname = current_database()) as locale,
        pg_encoding_to_char(encoding) as encoding from pg_database where datname = current_database()`,
    );
    expect(row).toEqual({
      memory: '7MB',
      fsync: 'on',
      addresses: '127.0.0.1',
      zone: 'UTC',
      locale: 'bC.UTF-8',
      encoding: 'UTF8',
    });
    const password = new URL(first.url).password;
    const command = readFileSync(`/proc/${pidOf(first)}/cmdline`, 'utf8');
    expect(command + lines.join() + readFileSync(join(path, 'server.log'), 'utf8')).not.toContain(password);
    expect(statSync(join(path, 'cluster', 'password')).mode & 0o777).toBe(0o600);
    expect(lines.join()).toContain('ready to accept connections');
    await expect(query(first.url.replace(password, 'wrong'), (sql) => sql`select 1`)).rejects.toThrow(/password/);
    await write(first.url, 'first');
    const pid = pidOf(first);
    await Promise.all([first.stop(), first.stop()]);
    await first.stop();
    expect(existsSync(`/proc/${pid}`)).toBe(false);

    const second = await start(path);
    expect(second).toMatchObject({ created: false, adopted: false });
    expect(await read(second.url)).toEqual(['first']);
  });

  test('is adopted when the process that started it was killed', async () => {
    const path = directory();
    const child = spawnStart(path);
    const before = await startedBy(child);
    await write(before.url, 'kept');
    const pid = pidOf(before);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const reasons: string[] = [];
    const server = await start(path, { onExit: (reason) => reasons.push(reason) });
    expect(server).toMatchObject({ adopted: true, created: false, url: before.url });
    expect(pidOf(server)).toBe(pid);
    expect(await read(server.url)).toEqual(['kept']);
    await server.stop();
    expect(serverState({ pid, data: server.dataDirectory, age: 0 }, server.dataDirectory)).not.toBe('ours');
    expect(reasons).toEqual([]);
  });

  test('keeps running when the process that started it ends, and does not keep that process alive', async () => {
    const child = spawnStart(directory(), 'leave');
    const server = await startedBy(child);
    await until(() => child.exitCode === 0);
    expect(await query(server.url, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
  });

  test('starts after all processes were killed, also when its pid belongs to another process now', async () => {
    const path = directory();
    const reasons: string[] = [];
    let server = await start(path, { onExit: (reason) => reasons.push(reason) });
    await write(server.url, 'committed');
    await killAll(server);
    await until(() => reasons.length > 0);
    expect(reasons[0]).toMatch(/ended unexpectedly: signal SIGKILL/);
    const pidFile = join(server.dataDirectory, 'postmaster.pid');
    const stale = readFileSync(pidFile, 'utf8').split('\n').slice(1);

    server = await start(path);
    expect(server).toMatchObject({ adopted: false, created: false });
    expect(await read(server.url)).toEqual(['committed']);

    // A process of the account of the server: the only case in which PostgreSQL does not remove the file itself.
    const { uid, gid } = statSync(server.dataDirectory);
    const sleeper = spawn('sleep', ['60'], { stdio: 'ignore', ...(process.getuid?.() === 0 ? { uid, gid } : {}) });
    children.push(sleeper);
    for (const pid of [sleeper.pid, process.pid, 2 ** 22 + 5]) {
      await killAll(server);
      writeFileSync(pidFile, [pid, ...stale].join('\n'));
      server = await start(path);
      expect(server).toMatchObject({ adopted: false });
      expect(await read(server.url)).toEqual(['committed']);
    }
    expect(sleeper.exitCode).toBe(null);

    // Only the postmaster is killed. Its children still run at the next start.
    process.kill(pidOf(server), 'SIGKILL');
    server = await start(path);
    expect(await read(server.url)).toEqual(['committed']);
  });

  test('reports why it did not start', async () => {
    const path = directory();
    const failed = start(path, { settings: { shared_buffers: 'many' } });
    await expect(failed).rejects.toThrow(/did not start in .*server\.log:(.|\n)*shared_buffers.*many/);
    writeFileSync(join(path, 'cluster', 'data', 'PG_VERSION'), '9\n');
    await expect(start(path)).rejects.toThrow(
      /is of PostgreSQL 9, and PostgreSQL \d+ is installed, which cannot run it/,
    );
  });

  test('creates the cluster again after a first start was killed', async () => {
    const path = directory();
    const child = spawnStart(path);
    const drafts = () => (existsSync(path) ? readdirSync(path) : []).filter((name) => name.startsWith('init-'));
    await until(() => drafts().some((name) => existsSync(join(path, name, 'data', 'base'))));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(existsSync(join(path, 'cluster'))).toBe(false);
    const server = await start(path);
    expect(server).toMatchObject({ created: true, adopted: false });
    await server.stop();
    await start(path);
    expect(drafts()).toEqual([]);
  });

  test('runs once when several processes start it at the same time', async () => {
    const path = directory();
    for (const first of [true, false]) {
      const child = spawnStart(path);
      const servers = await Promise.all([start(path), start(path), startedBy(child)]);
      expect(servers.filter((server) => !server.adopted)).toHaveLength(1);
      expect(servers.filter((server) => server.created)).toHaveLength(first ? 1 : 0);
      expect(new Set(servers.map((server) => server.url)).size).toBe(1);
      child.kill('SIGKILL');
      await Promise.all(servers.slice(0, 2).map((server) => server.stop()));
    }
  });

  test('reports an unexpected end of the server', async () => {
    const reasons: string[] = [];
    const path = directory();
    const options = { onExit: (reason: string) => void reasons.push(reason) };
    const owner = await start(path, options);
    const adopter = await start(path, options);
    expect(adopter.adopted).toBe(true);
    process.kill(pidOf(owner), 'SIGQUIT');
    await until(() => reasons.length === 2);
    await Promise.all([owner.stop(), adopter.stop()]);
    expect(reasons).toHaveLength(2);
  });

  test.skipIf(process.getuid?.() !== 0)('copies binaries that its account cannot reach', async () => {
    const checkout = join(base, 'root-checkout');
    await mkdir(checkout, { mode: 0o700 });
    const here = fileURLToPath(new URL('..', import.meta.url));
    await mkdir(join(checkout, 'node_modules/@tradepost'), { recursive: true });
    for (const name of ['core', 'postgres', 'embedded-postgres']) {
      await cp(join(here, name), join(checkout, 'packages', name), { recursive: true });
      await symlink(join(checkout, 'packages', name), join(checkout, 'node_modules/@tradepost', name));
    }
    for (const name of ['postgres', 'embedded-postgres', '@embedded-postgres'])
      await cp(join(here, '../node_modules', name), join(checkout, 'node_modules', name), {
        recursive: true,
        verbatimSymlinks: true,
      });
    await writeFile(join(checkout, 'package.json'), '{ "type": "module" }');
    const copied = (await import(join(checkout, 'packages/embedded-postgres/start-embedded-postgres.ts'))) as {
      startEmbeddedPostgres: Start;
    };
    // The data stays in its folder, which the account can reach.
    const path = directory();
    for (const first of [true, false]) {
      const lines: string[] = [];
      const server = await start(path, { onLog: (line) => lines.push(line) }, copied.startEmbeddedPostgres);
      expect(server.dataDirectory).toBe(join(path, 'cluster', 'data'));
      expect(readFileSync(`/proc/${pidOf(server)}/cmdline`, 'utf8')).toContain(`${shared}/postgresql-18`);
      expect(lines.filter((line) => line.includes('copying the PostgreSQL binaries'))).toHaveLength(first ? 1 : 0);
      await server.stop();
    }
  });

  test.skipIf(process.getuid?.() !== 0)('keeps its data where its account can reach it', async () => {
    const parent = join(base, 'root-only');
    await mkdir(parent, { mode: 0o700 });
    const path = join(parent, 'shop', 'postgres');
    const lines: string[] = [];
    let server = await start(path, { onLog: (line) => lines.push(line) });
    expect(server.dataDirectory).toContain(`${shared}/clusters/`);
    expect(lines.join()).toContain(`cannot enter ${path}`);
    await write(server.url, 'far');
    await server.stop();
    // Moved, and then copied.
    const moved = join(parent, 'moved');
    await rename(join(parent, 'shop'), moved);
    server = await start(join(moved, 'postgres'));
    expect(server.created).toBe(false);
    expect(await read(server.url)).toEqual(['far']);
    await cp(moved, join(parent, 'copied'), { recursive: true });
    await expect(start(join(parent, 'copied', 'postgres'))).rejects.toThrow(/is a copy of/);
    await server.stop();
    // The account could reach the folder at first. Then it was moved.
    const open = directory();
    server = await start(open);
    await write(server.url, 'near');
    await server.stop();
    const hidden = join(parent, 'hidden');
    await rename(open, hidden);
    server = await start(hidden);
    expect(server.dataDirectory).toContain(`${shared}/clusters/`);
    expect(await read(server.url)).toEqual(['near']);
  });
});
