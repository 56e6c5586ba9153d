import { chmod, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  binariesOfMajor,
  findEmbeddedPostgres,
  nextCluster,
  type PlatformPackage,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
} from '@tradepost/embedded-postgres';
import { openDatabase } from '@tradepost/postgres';
import { migrateDatabase } from '@tradepost/runtime';
import { runCommand, startScript } from '@tradepost/testing/processes/process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkout } from '../version.ts';

const oldMajor = 17;
const script = join(checkout, 'bin/tradepost.ts');

/** The binaries of the older PostgreSQL. Null when the registry cannot be reached. */
let platform: PlatformPackage | null = null;
let base: string;
/** The data folder of a shop on the older PostgreSQL. */
let data: string;
let directory: string;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'tradepost-major-'));
  await chmod(base, 0o755);
  data = join(base, 'shop');
  directory = join(data, 'postgres');
  try {
    platform = await binariesOfMajor(oldMajor, join(directory, 'binaries', String(oldMajor)), () => {});
  } catch (error) {
    const { message } = error as Error;
    if (!/ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENOENT|network/.test(message)) throw error;
    process.stderr.write(`upgrade-embedded.test.ts is skipped, it needs the registry of npm: ${message}\n`);
    return;
  }
  await withOld(async (url) => {
    // An older release: its last migrations are missing.
    await migrateDatabase(url, { through: 44 });
    const sql = openDatabase(url, { max: 1 });
    await sql`insert into identity.shoppers (username) select 'shopper' || n from generate_series(1, 5000) as n`;
    await sql.end();
  });
}, 600_000);
afterAll(async () => {
  await stopEmbeddedPostgres({ directory }).catch(() => {});
  await rm(base, { recursive: true, force: true });
});

/** Runs `work` with the address of the database on the older PostgreSQL. */
async function withOld<T>(work: (url: string) => Promise<T>): Promise<T> {
  const server = await startEmbeddedPostgres({ directory, platform: platform! });
  try {
    return await work(server.url);
  } finally {
    await server.stop();
  }
}

async function countShoppers(url: string): Promise<number> {
  const sql = openDatabase(url, { max: 1 });
  try {
    const [row] = await sql<{ n: number }[]>`select count(*)::int as n from identity.shoppers`;
    return row!.n;
  } finally {
    await sql.end();
  }
}

const env = () => ({ TRADEPOST_DATA: data });
const migrate = () => runCommand(['migrate'], { env: env(), timeoutMs: 110_000 });

test('a shop on an older PostgreSQL is upgraded by itself, also after kill -9 at any step, and can go back', async ({
  skip,
}) => {
  if (!platform) return skip('the registry of npm cannot be reached');

  const visited = await runCommand(['settings', 'list'], { env: env() });
  expect(visited).toMatchObject({ code: 1, stderr: expect.stringMatching(/PostgreSQL 17.*`tradepost start`/) });
  expect(await findEmbeddedPostgres(directory)).toMatchObject({ major: oldMajor, state: 'stopped' });

  for (const step of ['backing up', 'restoring it', 'checking']) {
    const killed = await startScript([script, 'migrate'], env(), new RegExp(step));
    killed.child.kill('SIGKILL');
    await killed.ended;
    // The old version finds the server of the killed upgrade, and goes on with it.
    await withOld(async (url) => {
      const sql = openDatabase(url, { max: 1 });
      await sql`insert into identity.shoppers (username) values (${`after ${step}`})`;
      await sql.end();
    });
  }

  const upgraded = await migrate();
  expect([upgraded.code, upgraded.stderr]).toEqual([0, expect.stringContaining('kept in')]);
  const { home, major } = await findEmbeddedPostgres(directory);
  expect(major).toBeGreaterThan(oldMajor);
  const kept = join(home, `cluster-${oldMajor}`);
  expect((await readdir(home)).filter((name) => /upgrade$|next/.test(name))).toEqual([]);
  const audit = await runCommand(['audit', '--json'], { env: env() });
  expect([audit.code, audit.code === 0 ? '' : audit.stdout]).toEqual([0, '']);

  // It ended between the renames: the next start finds the new cluster, and makes no empty one.
  await rename(join(home, 'cluster'), nextCluster(home));
  const server = await startEmbeddedPostgres({ directory });
  expect(await countShoppers(server.url)).toBe(5_003);
  await server.stop();

  // Back to the former one, by the renames of the guide.
  await rename(join(home, 'cluster'), join(home, `cluster-${major}`));
  await rename(kept, join(home, 'cluster'));
  expect(await withOld(countShoppers)).toBe(5_003);
}, 600_000);

test('a refused upgrade changes nothing, and a fault that the shop had before does not stop one', async ({ skip }) => {
  if (!platform) return skip('the registry of npm cannot be reached');
  const onOld = (statement: string) =>
    withOld(async (url) => {
      await migrateDatabase(url);
      const sql = openDatabase(url, { max: 1 });
      await sql.unsafe(statement);
      await sql.end();
    });
  await onOld(`create table runtime.restoring (begun_at timestamptz);
    insert into backup.runs (is_scheduled, started_at, location) values (false, now(), '/backups')`);
  const refused = await migrate();
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/nothing has changed.*restore.*has not ended/),
  });
  expect(await findEmbeddedPostgres(directory)).toMatchObject({ major: oldMajor, state: 'stopped' });
  await withOld(async (url) => {
    const sql = openDatabase(url, { max: 1 });
    await sql`drop table runtime.restoring`;
    await sql.end();
  });
  const upgraded = await migrate();
  expect([upgraded.code, upgraded.stderr]).toEqual([
    0,
    expect.stringContaining('the audit backup.runs finds 1 rows, as it did before'),
  ]);
}, 600_000);
