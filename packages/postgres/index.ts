export { actingSql } from './acting-sql.ts';
export type { ChangeActor } from './change-actor.ts';
export {
  openDatabase,
  plannedByValue,
  type Queryable,
  type Sql,
  type Statement,
  type Transaction,
  writeTransaction,
} from './client.ts';
export { countedPage } from './counted-page.ts';
export { postgres } from './driver.ts';
export { postgresErrors } from './errors.ts';
export { foldChanges } from './fold-changes.ts';
export { databaseUnavailable, groupCommit, lostConnection, refusedConnection } from './group-commit.ts';
export { type Migrated, type MigrateOptions, migrate } from './migrations/migrate.ts';
export {
  MigrationError,
  type MigrationFile,
  readMigrationFiles,
  readMigrations,
} from './migrations/migration-files.ts';
export { type PlannedMigration, planMigrations } from './migrations/migration-plan.ts';
export { type MigrationFault, migrationFaults, migrationState } from './migrations/migration-state.ts';
export { readMigrationStep } from './migrations/migration-steps.ts';
export { selectDatabaseId, selectMigrations } from './migrations/migration-store.ts';
export { createDatabaseCommand, grantCreate } from './missing-rights.ts';
export { isRestoring, markRestored, markRestoring } from './restore-marker-store.ts';
export { type ServerFacts, selectServerFacts } from './server-facts-store.ts';
export { postgresTables, schemaStateTables } from './tables.ts';
