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
export { postgres } from './driver.ts';
export { postgresErrors } from './errors.ts';
export { groupCommit, lostConnection } from './group-commit.ts';
export { type Migrated, type MigrateOptions, MigrationError, migrate, migrationState } from './migrate.ts';
export { type ServerFacts, selectServerFacts } from './server-facts-store.ts';
export { postgresTables } from './tables.ts';
