import { existsSync } from 'node:fs';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createBackup, filePlace } from '@tradepost/backup';
import {
  binariesOfMajor,
  findEmbeddedPostgres,
  findPackage,
  nextCluster,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
  switchCluster,
} from '@tradepost/embedded-postgres';
import { isRestoring, MigrationError, openDatabase, type Sql, selectMigrations } from '@tradepost/postgres';
import { type Config, type Log, openDatabaseServer } from '@tradepost/runtime';
import { fillCluster, saying } from './fill-cluster.ts';

type Upgrade = {
  config: Config;
  log: Log;
  say: (line: string) => void;
  /** The folder of the embedded database. */
  directory: string;
  from: number;
  to: number;
};

/** Whether the database has a shop. Refuses one that is not restored completely. */
async function hasShop(sql: Sql): Promise<boolean> {
  if (await isRestoring(sql))
    throw new MigrationError(
      'A restore into this database has not ended: repeat `tradepost backup restore` with the version of Tradepost that began it',
    );
  return (await selectMigrations(sql)).length > 0;
}

/** The new cluster, made beside the old one. What an interrupted upgrade has left there is removed. */
async function openStage(stage: string, log: Log) {
  await removeStage(stage);
  await mkdir(stage, { recursive: true });
  // The account of the server must be able to enter it, with any umask.
  await chmod(stage, 0o755);
  return startEmbeddedPostgres({
    directory: stage,
    onLog: (line) => log.debug({ postgres: line }, 'embedded PostgreSQL of the upgrade'),
  });
}

async function removeStage(stage: string): Promise<void> {
  // The server survives a killed upgrade.
  if (existsSync(stage)) await stopEmbeddedPostgres({ directory: stage });
  await rm(stage, { recursive: true, force: true });
}

/** Copies the old database into a new cluster. Resolves with the folder of the complete, stopped cluster. */
async function copyDatabase(upgrade: Upgrade, url: string, stage: string): Promise<string> {
  const { config, log, say, directory, from, to } = upgrade;
  const old = openDatabase(url, { max: 2, name: 'tradepost upgrade', maxLifetimeSeconds: null });
  try {
    const file = join(directory, `upgrade-${from}-to-${to}.tar`);
    await rm(file, { force: true });
    const filled = await hasShop(old);
    if (filled) {
      say(`backing up the database of PostgreSQL ${from} to ${file}`);
      let rows = 0;
      await saying(
        say,
        () => `backing up: ${rows.toLocaleString('en')} rows`,
        () =>
          createBackup({
            ...{ url, files: null, uploads: 'none', open: (id) => filePlace(file).create(id) },
            onProgress: (at) => {
              rows = at.rows;
            },
          }),
      );
    }
    const fresh = await openStage(stage, log);
    try {
      if (filled) await fillCluster({ config, say, file, url: fresh.url, old, to });
    } finally {
      await fresh.stop();
    }
    return join(stage, 'cluster');
  } finally {
    await old.end({ timeout: 1 });
  }
}

async function upgrade(work: Upgrade): Promise<void> {
  const { config, log, say, directory, from, to } = work;
  say(`the database is of PostgreSQL ${from}, and this version brings ${to}: it is copied into a new one`);
  const platform = await binariesOfMajor(from, join(directory, 'binaries', String(from)), say);
  const options = { directory, platform };
  const server = await openDatabaseServer({ config, serve: true, platform }, log);
  // The start may have moved the cluster to a folder that the account of the server can enter.
  const { home } = await findEmbeddedPostgres(directory);
  const stage = join(home, 'upgrade');
  let next: string;
  try {
    await rm(nextCluster(home), { recursive: true, force: true });
    next = await copyDatabase(work, server.url, stage);
  } catch (error) {
    await removeStage(stage).catch(() => {});
    throw new Error(
      `The upgrade to PostgreSQL ${to} failed, and nothing has changed: the version of Tradepost with PostgreSQL ${from} can use the database. ${(error as Error).message}`,
      { cause: error },
    );
  } finally {
    await server.close();
    // A command of an older version may still be connected: it must not write to a database that is not used any more.
    await stopEmbeddedPostgres(options);
  }
  say('switching to the new database');
  const kept = await switchCluster(home, next);
  await removeStage(stage);
  say(
    `the database is of PostgreSQL ${to} now. The former one is kept in ${kept}: docs/OPERATIONS.md, "Upgrade", says how to go back to it; remove it when the new one is proved`,
  );
}

/**
 * Upgrades an embedded database that another major version of PostgreSQL has made: backup, restore into a new cluster, check,
 * switch. The old cluster is kept, and stays usable at every moment. After an interruption it begins again. Does nothing for an
 * external database, and for one of the installed version.
 */
export async function upgradeEmbedded(config: Config, log: Log, say: (line: string) => void): Promise<void> {
  if (config.databaseUrl) return;
  const directory = join(config.data, 'postgres');
  const { major: from, home } = await findEmbeddedPostgres(directory);
  if (from === null) return;
  const { major: to } = await findPackage();
  if (from < to) await upgrade({ config, log, say, directory, from, to });
  // It ended after the switch.
  else if (from === to) await removeStage(join(home, 'upgrade'));
}
