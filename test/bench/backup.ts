import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { seedScale } from '@tradepost/app';
import { openDatabase } from '@tradepost/postgres';
import type { BenchOptions } from './alternating-runs.ts';
import { findPrograms, type Programs, runProgram, startServerOf } from './postgres-programs.ts';
import { progress, type Row, type Section } from './report.ts';
import { type Cluster, temporaryFolder } from './server.ts';

const command = join(import.meta.dirname, '../../bin/tradepost.ts');
const megabytes = (bytes: number) => bytes / 2 ** 20;

async function createDatabase(url: string, name: string): Promise<string> {
  const sql = openDatabase(url, { max: 1 });
  await sql.unsafe(`create database ${name} template template0 encoding 'UTF8'`);
  await sql.end();
  const created = new URL(url);
  created.pathname = `/${name}`;
  return created.toString();
}

async function countsOf(url: string): Promise<{ orders: number; bytes: number }> {
  const sql = openDatabase(url, { max: 1 });
  const [row] = await sql<{ orders: number; bytes: number }[]>`
    select (select count(*) from orders.orders) as orders, pg_database_size(current_database()) as bytes`;
  await sql.end();
  return row!;
}

/** Runs `tradepost backup` as an operator does. */
async function tradepost(what: string, args: readonly string[], url: string, data: string): Promise<Row> {
  progress(what);
  const { seconds, peakBytes } = await runProgram(
    process.execPath,
    ['--max-old-space-size=384', command, 'backup', ...args, '--json', '--data', data],
    { env: { DATABASE_URL: url } },
  );
  return { what, seconds, 'peak MB of the process': megabytes(peakBytes) };
}

async function measureTradepost(label: string, url: string, other: string, folder: string): Promise<Row[]> {
  const file = join(folder, `${label.replaceAll(' ', '-')}.tar`);
  const created = await tradepost(`${label}: tradepost backup create`, ['create', file], url, folder);
  const { size } = await stat(file);
  const restored = await tradepost(`${label}: tradepost backup restore`, ['restore', file], other, folder);
  return [
    { ...created, 'file MB': megabytes(size) },
    { ...restored, 'file MB': null },
  ];
}

async function measurePrograms({ folder, major }: Programs, url: string, other: string, to: string): Promise<Row[]> {
  const file = join(to, 'shop.dump');
  progress('pg_dump');
  const dump = await runProgram(join(folder, 'pg_dump'), ['--format=custom', `--file=${file}`, url]);
  const { size } = await stat(file);
  progress('pg_restore');
  const jobs = 2;
  const args = ['--no-owner', `--jobs=${jobs}`, `--dbname=${other}`, file];
  const restore = await runProgram(join(folder, 'pg_restore'), args);
  const row = (
    what: string,
    { seconds, peakBytes }: { seconds: number; peakBytes: number },
    bytes: number | null,
  ): Row => ({
    ...{ what: `PostgreSQL ${major}: ${what}`, seconds, 'peak MB of the process': megabytes(peakBytes) },
    'file MB': bytes === null ? null : megabytes(bytes),
  });
  return [row('pg_dump --format=custom', dump, size), row(`pg_restore --jobs=${jobs}`, restore, null)];
}

/** Measures a backup and its restore beside pg_dump and pg_restore, on the same server. */
export async function backup(cluster: Cluster, { orders }: BenchOptions): Promise<Section[]> {
  const folder = await temporaryFolder();
  await seedScale(
    cluster.sql,
    { orders, shoppers: Math.ceil(orders / 20), products: Math.ceil(orders / 200) },
    progress,
  );
  const { bytes } = await countsOf(cluster.url);
  const embedded = `PostgreSQL ${cluster.version}`;
  const rows = await measureTradepost(
    embedded,
    cluster.url,
    await createDatabase(cluster.url, 'restored'),
    folder.path,
  );
  const notes = [`the database has ${Math.round(megabytes(bytes)).toLocaleString('en')} MB with its indexes`];
  const programs = await findPrograms();
  if (!programs) notes.push('pg_dump is not installed (Debian: apt install postgresql), so there is no comparison');
  else {
    const server = await startServerOf(programs, folder.path);
    const [shop, restored, dumped] = [
      await createDatabase(server.url, 'shop'),
      await createDatabase(server.url, 'restored'),
      await createDatabase(server.url, 'dumped'),
    ];
    // pg_dump refuses newer servers than itself, so the shop moves to a server of its version: by a backup.
    const file = join(folder.path, `${embedded.replaceAll(' ', '-')}.tar`);
    await tradepost(`moving the shop to PostgreSQL ${programs.major}`, ['restore', file], shop, folder.path);
    rows.push(...(await measureTradepost(`PostgreSQL ${programs.major}`, shop, restored, folder.path)));
    rows.push(...(await measurePrograms(programs, shop, dumped, folder.path)));
    for (const url of [restored, dumped]) {
      const counts = await countsOf(url);
      if (counts.orders !== orders) throw new Error(`${counts.orders} orders were restored instead of ${orders}`);
    }
  }
  return [{ title: `a shop with ${orders.toLocaleString('en')} orders`, rows, notes }];
}
