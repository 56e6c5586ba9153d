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
export { groupCommit, lostConnection } from './group-commit.ts';
export {
  type Migrated,
  type MigrateOptions,
  MigrationError,
  type MigrationFile,
  migrate,
  migrationState,
  readMigrationFiles,
  selectDatabaseId,
  selectMigrations,
} from './migrate.ts';
export { createDatabaseCommand, grantCreate } from './missing-rights.ts';
export { isRestoring, markRestored, markRestoring } from './restore-marker-store.ts';
export { type ServerFacts, selectServerFacts } from './server-facts-store.ts';
export { postgresTables, schemaStateTables } from './tables.ts';
