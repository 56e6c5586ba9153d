import { type Migrated, type MigrateOptions, migrate } from '@tradepost/postgres';
import { Logger, runMigrations as migrateWorker } from 'graphile-worker';

/** Applies the migrations of the shop and those of the job queue. Throws MigrationError. */
export function migrateDatabase(url: string, options: Omit<MigrateOptions, 'finish'> = {}): Promise<Migrated> {
  return migrate(url, {
    ...options,
    finish: (connectionString) => migrateWorker({ connectionString, logger: new Logger(() => () => {}) }),
  });
}
