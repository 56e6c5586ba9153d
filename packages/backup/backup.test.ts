import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@tradepost/postgres';
import { openDatabase } from '@tradepost/postgres';
import { openBucket } from '@tradepost/storage';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { commandEnvironment } from '@tradepost/testing/processes/process';
import { examplePng } from '@tradepost/testing/routes/multipart';
import { runTask } from '@tradepost/testing/run-task';
import { s3Keys, startS3 } from '@tradepost/testing/s3/s3-server';
import { createEmptyDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { loadTestData } from '@tradepost/testing/test-data';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { filePlace } from './places/file-place.ts';
import { withBackup } from './restore/read-parts.ts';
import { restoreBackup } from './restore/restore-backup.ts';

// Each restore runs all migrations, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 });
const patient = { timeout: 60_000, interval: 300 };

const script = join(import.meta.dirname, '../../bin/tradepost.ts');

let shop: Shop;
let s3: Awaited<ReturnType<typeof startS3>>;
let folder: string;
/** A complete backup of the shop. */
let file: string;
let manifestRows: { tables: number; rows: number };
const databases: TestDatabase[] = [];

async function emptyDatabase(): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  databases.push(database);
  return database;
}

/** Runs a command with a data folder of its own, unless `env` names one. */
const backup = (args: string[], env: Record<string, string> = {}) =>
  runCommandInProcess(['backup', ...args], { env: { TRADEPOST_DATA: join(folder, 'data'), ...env } });
const ofShop = () => ({ DATABASE_URL: shop.database.url, TRADEPOST_DATA: shop.server.runtime.config.data });

const bucketOf = (name: string) =>
  openBucket(() => ({
    ...{ bucketUrl: `${s3.url}/${name}`, region: 'us-east-1' },
    ...{ accessKey: s3Keys.id, secretKey: s3Keys.secret },
  }));

/** Every table of the shop with the number and a checksum of its rows. */
async function contentOf(sql: Sql): Promise<Record<string, string>> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')
      and format('%I.%I', schemaname, tablename) not in
        ('runtime.migrations', 'graphile_worker.migrations', 'backup.runs')
    order by 1`;
  const rows = await sql.unsafe<{ name: string; content: string }[]>(
    tables
      .map(
        ({ name }) =>
          `select '${name}' as name, count(*) || ' ' || coalesce(md5(string_agg(t::text, ',' order by t::text)), '') as content from ${name} t`,
      )
      .join(' union all '),
  );
  return Object.fromEntries(rows.map(({ name, content }) => [name, content]));
}

/** What migrations define: indexes, constraints, triggers and the positions of sequences. */
const definitionsOf = (sql: Sql) => sql`
  select conrelid::regclass::text || ' ' || conname || ' ' || pg_get_constraintdef(oid) as definition from pg_constraint
    where conrelid <> 0 and contype <> 'n'
  union all select indexrelid::regclass || ' ' || pg_get_indexdef(indexrelid) from pg_index
    where indrelid::regclass::text !~ '^pg_'
  union all select tgrelid::regclass || ' ' || tgname || ' ' || tgenabled::text from pg_trigger where not tgisinternal
  order by 1`;
const sequencesOf = (sql: Sql) => sql`
  select schemaname || '.' || sequencename as name, last_value from pg_sequences where schemaname <> 'backup' order by 1`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradepost-backup-'));
  file = join(folder, 'shop.tar');
  const rows = (await loadTestData()).map((data) => data.rows ?? '').join('\n');
  s3 = await startS3(['photos', 'backups']);
  shop = await openShop(
    {},
    {
      'storage_oss.endpoint': s3.url,
      'storage_oss.bucket': 'photos',
      'storage_oss.access_key_id': s3Keys.id,
      'storage_oss.access_key_secret': s3Keys.secret,
    },
    {
      async prepare({ sql }) {
        await sql.unsafe(rows);
        // The rows have given ids. Those of the test come after them.
        await sql`select setval(format('%I.%I', schemaname, sequencename), 100000) from pg_sequences`;
        return {};
      },
    },
  );
});
afterAll(async () => {
  await shop?.close();
  await s3?.close();
  for (const database of databases) await database.drop();
  await rm(folder, { recursive: true, force: true });
});

test('a backup under load has the shop of one moment, and its restore has every row, file, index and sequence', async () => {
  const product = await insertProduct(shop.database, { stocks: [1_000] });
  const buyers = await Promise.all([shop.shopper(), shop.shopper(), shop.shopper()]);
  const content = Buffer.alloc(200_000);
  content.set(examplePng);
  const upload = async (query = ''): Promise<string> => {
    const body = new FormData();
    body.append('file', new File([content], 'photo.png', { type: 'image/png' }));
    const { data } = await shop.call('POST', `/api/v1/upload${query}`, { token: buyers[0]!.token, body });
    return data.path;
  };
  const [local, remote] = [await upload(), await upload('?driver=oss')];
  let [placed, isOpen] = [0, true];
  const load = buyers.map(async ({ token, address_id }) => {
    while (isOpen) {
      const items = [{ sku_id: product.sku_ids[0]!, qty: 1 }];
      const { code } = await shop.call('POST', '/api/v1/orders', { token, body: { address_id, items } });
      if (code === 0) placed += 1;
    }
  });
  while (placed < 5) await sleep(5);
  const before = placed;
  const created = await backup(['create', file, '--json'], ofShop());
  const after = placed;
  isOpen = false;
  await Promise.all(load);
  expect(created).toMatchObject({ code: 0 });
  const made = JSON.parse(created.stdout);
  manifestRows = { tables: made.tables, rows: made.rows };
  expect(made.uploads.files).toBe(2);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).not.toContainEqual(expect.stringContaining('.partial'));

  const photos = bucketOf('photos');
  await photos.remove([remote]);
  const elsewhere = await emptyDatabase();
  const restored = await backup(['restore', file, '--json'], { DATABASE_URL: elsewhere.url });
  expect(restored).toMatchObject({ code: 0 });
  expect(JSON.parse(restored.stdout)).toMatchObject({ rows: made.rows, uploads: { written: 2, failed: 0 } });
  expect(await auditViolations(elsewhere.sql)).toEqual([]);
  const [orders] = await elsewhere.sql<{ n: number }[]>`
    select count(*)::int as n from orders.order_items where product_id = ${product.id}`;
  expect(orders!.n).toBeGreaterThanOrEqual(before);
  expect(orders!.n).toBeLessThanOrEqual(after + buyers.length);
  expect(await readFile(join(folder, 'data/uploads', local))).toEqual(content);
  expect(await photos.sizeOf(remote)).toBe(content.length);
  expect(await definitionsOf(elsewhere.sql)).toEqual(await definitionsOf(shop.database.sql));
  await withBackup(filePlace(file).open(), async ({ manifest }) => {
    const found = await contentOf(elsewhere.sql);
    for (const { schema, name, rows } of manifest.tables)
      if (schema !== 'backup')
        expect(`${schema}.${name} ${found[`${schema}.${name}`]}`).toMatch(`${schema}.${name} ${rows} `);
    expect(manifest.tables).toHaveLength(manifestRows.tables);
  });
});

test('a shop moves from an external server into an embedded one and back, row by row', async () => {
  const data = join(folder, 'embedded');
  const into = await runCommandInProcess(['backup', 'restore', file, '--data', data]);
  expect(into).toMatchObject({ code: 0 });
  const second = join(folder, 'second.tar');
  expect(await runCommandInProcess(['backup', 'create', second, '--data', data])).toMatchObject({ code: 0 });
  const back = await emptyDatabase();
  const restoredBack = await backup(['restore', second], { DATABASE_URL: back.url });
  // The command as it is printed, with the time that `audit` takes.
  const [, time] = /^next: tradepost audit --at (\S+), then tradepost doctor$/m.exec(restoredBack.stdout)!;
  const audited = await runCommandInProcess(['audit', '--at', time!, '--json'], { env: { DATABASE_URL: back.url } });
  expect([restoredBack.code, audited.code, audited.code === 0 ? '' : audited.stdout]).toEqual([0, 0, '']);
  const first = databases[0]!;
  expect(await contentOf(back.sql)).toEqual(await contentOf(first.sql));
  expect(await sequencesOf(back.sql)).toEqual(await sequencesOf(first.sql));
});

test('a file that was cut off or altered is refused, and the database stays empty', async () => {
  const bytes = await readFile(file);
  const nameOfBackup = 'tradepost-00000001-20260301T033000Z.tar';
  const database = await emptyDatabase();
  const second = bytes.indexOf('ustar', 512) - 257;
  const damaged: [message: string, content: Buffer, fileName?: string][] = [
    ['not complete', bytes.subarray(0, bytes.length - 700)],
    ['not complete', Buffer.concat([bytes, Buffer.alloc(512)])],
    // In the first part.
    ['altered', Buffer.from(bytes).fill(bytes[600]! ^ 1, 600, 601)],
    ['no backup', Buffer.from('not a backup'.repeat(100))],
    // In the first header, with and without the name that backups have.
    ['its beginning is damaged', Buffer.from(bytes).fill(bytes[200]! ^ 1, 200, 201)],
    ['altered or is damaged (tar: 0)', Buffer.from(bytes).fill(bytes[200]! ^ 1, 200, 201), nameOfBackup],
    [`altered or is damaged (tar: ${second})`, Buffer.from(bytes).fill(1, second, second + 1)],
  ];
  for (const [message, content, fileName = 'damaged.tar'] of damaged) {
    const name = join(folder, fileName);
    await writeFile(name, content);
    for (const args of [
      ['restore', name],
      ['verify', name, '--checksums'],
    ]) {
      const { code, stderr } = await backup(args, { DATABASE_URL: database.url });
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) });
    }
    expect(await database.sql`select from pg_namespace where nspname in ('runtime', 'orders')`).toHaveLength(0);
  }
});

test('a backup of a newer program, and a database that is not empty, are refused with what to do', async () => {
  const { url } = await emptyDatabase();
  await withBackup(filePlace(file).open(), async (opened) => {
    const { manifest } = opened;
    const newer = { id: manifest.migrations.length + 1, name: '9999_later.sql', checksum: '0'.repeat(64) };
    const migrations = [...manifest.migrations, newer];
    const later = { ...opened, manifest: { ...manifest, program: '9.0.0', migrations } };
    await expect(restoreBackup(later, { url })).rejects.toThrow(/9999_later.*9\.0\.0 or a later one/);
  });
  const { code, stderr } = await backup(['restore', file], { DATABASE_URL: shop.database.url });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/not empty.*createdb/) });
});

describe('kill -9', () => {
  /** Starts a command as a process and kills it when `isReached` answers true. */
  async function kill(args: string[], env: Record<string, string>, isReached: () => Promise<boolean>) {
    const child = spawn(process.execPath, [script, 'backup', ...args], {
      env: commandEnvironment(env),
      stdio: 'ignore',
    });
    const ended = once(child, 'close');
    while (!(await isReached())) {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} before it was killed`);
      await sleep(10);
    }
    child.kill('SIGKILL');
    await ended;
  }

  test('of a backup leaves a file that is listed as not complete, and that the next backup removes', async () => {
    const place = join(folder, 'killed/');
    const files = async () => (await readdir(place).catch(() => [])).map((name) => name.replace(/^.*Z/, ''));
    // The backup waits for this lock when its file is open.
    const blocker = openDatabase(shop.database.url, { max: 1 });
    await expect(
      blocker.begin(async (tx) => {
        await tx`lock table orders.orders in access exclusive mode`;
        // The folder exists, so that the place is one.
        await kill(['create', place], ofShop(), async () => (await files()).length > 0);
        throw new Error('unlocked');
      }),
    ).rejects.toThrow('unlocked');
    await blocker.end();
    expect(await files()).toEqual([expect.stringMatching(/^\.tar\.[0-9a-f]{8}\.partial$/)]);
    const listed = JSON.parse((await backup(['list', place, '--json'])).stdout);
    expect(listed.backups).toMatchObject([{ complete: false, problem: 'not complete' }]);
    expect(await backup(['verify', place, '--checksums'])).toMatchObject({ code: 1 });
    // The server notices the end of the killed process in a moment. Until then its backup counts as running.
    await expect.poll(async () => (await backup(['create', place], ofShop())).code, patient).toBe(0);
    expect(await files()).toEqual(['.tar']);
  });

  test('of a restore leaves a database that nothing opens, and in which the next restore begins again', async () => {
    const database = await emptyDatabase();
    const env = { DATABASE_URL: database.url, TRADEPOST_DATA: join(folder, 'data') };
    await kill(['restore', file], env, async () => {
      const [row] = await database.sql`select to_regclass('runtime.restoring') is not null as is_marked`;
      return row!.is_marked;
    });
    const refused = await runCommandInProcess(['audit'], { env });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('tradepost backup restore') });
    await expect.poll(async () => (await backup(['restore', file, '--no-uploads'], env)).code, patient).toBe(0);
    expect(await contentOf(database.sql)).toEqual(await contentOf(databases[0]!.sql));
  });
});

test('a backup that loses its database connection fails and leaves no file', async () => {
  const place = join(folder, 'lost/');
  const blocker = openDatabase(shop.database.url, { max: 1 });
  const failed = await blocker.begin(async (tx) => {
    await tx`lock table orders.orders in access exclusive mode`;
    const created = backup(['create', place], ofShop());
    await expect.poll(() => readdir(place).catch(() => []), patient).toHaveLength(1);
    await tx`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'tradepost backup'`;
    return created;
  });
  await blocker.end();
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('error:') });
  expect(await readdir(place)).toEqual([]);
});

test('a backup in a bucket is listed, restored into a temporary database and audited', async () => {
  const account = { AWS_ENDPOINT_URL: s3.url, AWS_ACCESS_KEY_ID: s3Keys.id, AWS_SECRET_ACCESS_KEY: s3Keys.secret };
  const place = 's3://backups/nightly';
  const create = async () =>
    JSON.parse((await backup(['create', place, '--json'], { ...ofShop(), ...account })).stdout);
  const list = async () => JSON.parse((await backup(['list', place, '--json'], account)).stdout).backups;
  const { rows, location } = await create();
  expect(await list()).toMatchObject([{ complete: true, problem: '', rows, files: 2 }]);
  const verified = await backup(['verify', place, '--json'], { ...ofShop(), ...account });
  expect(verified).toMatchObject({ code: 0 });
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true });
  expect(await shop.database.sql`select from pg_database where datname like 'tradepost_verify_%'`).toHaveLength(0);

  // As a killed process leaves it.
  await bucketOf('backups').remove([`${location.replace('s3://backups/', '')}/manifest.json`]);
  expect(await list()).toMatchObject([{ complete: false }]);
  expect(await backup(['verify', place], account)).toMatchObject({ code: 1 });
  const { location: next } = await create();
  expect(await list()).toMatchObject([{ name: next.split('/').at(-1), complete: true }]);

  const refused = await backup(['list', place], { ...account, AWS_SECRET_ACCESS_KEY: 'another-secret' });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('SignatureDoesNotMatch') });
  expect(refused.stderr).not.toContain('another-secret');
});

test('backups on schedule are made once per slot, and only old ones of this shop are removed', async () => {
  const place = join(folder, 'scheduled');
  const { settings } = shop.server.runtime;
  await settings.setMany({ 'backup.destination': place, 'backup.keep': 2, 'backup.time': '00:00' });
  await runTask(shop, 'backup.scheduled');
  const [made] = await readdir(place);
  const source = /^tradepost-([0-9a-f]{8})-/.exec(made!)![1]!;
  const others = [`tradepost-${source}-20200101T000000Z.tar`, `tradepost-${source}-20210101T000000Z.tar`];
  const foreign = 'tradepost-00000000-20200101T000000Z.tar';
  for (const name of [...others, foreign]) await copyFile(join(place, made!), join(place, name));
  await runTask(shop, 'backup.scheduled');
  expect(await readdir(place)).toHaveLength(4);

  await shop.database.sql`update backup.runs set started_at = started_at - interval '2 days' where is_scheduled`;
  await sleep(1_000 - (Date.now() % 1_000));
  await runTask(shop, 'backup.scheduled');
  const left = await readdir(place);
  expect(left).toHaveLength(3);
  expect(left).toEqual(expect.arrayContaining([foreign, made]));
  const doctor = await runCommandInProcess(['doctor', '--json'], { env: ofShop() });
  expect(JSON.parse(doctor.stdout).findings).toContainEqual(
    expect.objectContaining({
      area: 'backups',
      level: 'ok',
      what: expect.stringContaining('last complete backup on schedule ended at'),
    }),
  );
  const { sql } = shop.database;
  const said = async () =>
    JSON.parse((await runCommandInProcess(['doctor', '--json'], { env: ofShop() })).stdout).findings.filter(
      ({ area }: { area: string }) => area === 'backups',
    );
  await sql`update backup.runs set bytes = ${2 ** 50} where is_scheduled`;
  expect(await said()).toMatchObject([
    { id: 'backups/little-space', what: expect.stringMatching(new RegExp(`free for backups in ${place}.* has 1 PiB`)) },
    { level: 'ok', what: expect.stringContaining(join(place, `tradepost-${source}-`)) },
  ]);
  await settings.set('backup.destination', join(folder, 'elsewhere'));
  expect(await said()).toMatchObject([
    { id: 'backups/little-space' },
    { id: 'backups/none-yet', what: expect.stringMatching(/in \S+elsewhere yet; the last one is \S+\.tar$/) },
  ]);
  await settings.set('backup.destination', place);
  const verified = await backup(['verify', '--checksums', '--json'], ofShop());
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, location: expect.stringContaining(place) });
  const times = async () => {
    const text = await shop.server.runtime.metrics.registry.metrics();
    const time = (name: string) =>
      Number(new RegExp(`^backup_last_${name}_timestamp_seconds (\\d+)$`, 'm').exec(text)![1]);
    return { success: time('success'), failure: time('failure') };
  };
  const before = await times();
  expect(before.success).toBeGreaterThan(before.failure);

  // A folder to which a unit may not write looks fine to the doctor, which is a command. What the worker found is known.
  await sql`
    insert into backup.runs (is_scheduled, started_at, ended_at, location, bytes, rows, files, error)
    select true, now() + interval '2 seconds', now() + interval '2 seconds', location, 0, 0, 0, 'EROFS: read-only file system, open ''x''' from backup.runs limit 1`;
  expect(await runTask(shop, 'backup.scheduled')).toBeUndefined();
  const { success, failure } = await times();
  expect(failure).toBeGreaterThan(success);
  expect(await said()).toContainEqual(
    expect.objectContaining({
      id: 'backups/failed',
      todo: expect.stringContaining('the units write only to the folder of service print --backups'),
    }),
  );
  // Without a schedule nothing fails any more.
  await settings.unset('backup.destination');
  await runTask(shop, 'backup.scheduled');
  expect((await times()).failure).toBe(0);
});
