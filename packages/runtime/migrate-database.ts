import { type Migrated, type MigrateOptions, migrate } from '@tradepost/postgres';

/** Applies the migrations of the shop and those of the job queue. Throws MigrationError. */
export function migrateDatabase(url: string, options: Omit<MigrateOptions, 'finish'> = {}): Promise<Migrated> {
  return migrate(url, {
    ...options,
    // Loaded here: a command that only checks the version does not need it.
    async finish(connectionString) {
      const { Logger, runMigrations } = await import('graphile-worker');
      await runMigrations({ connectionString, logger: new Logger(() => () => {}) });
    },
  });
}
