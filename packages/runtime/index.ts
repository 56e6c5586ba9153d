export type { Audit } from './audit.ts';
export { type Coalesced, type CoalesceOptions, coalesce } from './coalesce.ts';
export {
  type Config,
  ConfigError,
  type ConfigKey,
  describeConfig,
  type LoadedConfig,
  loadConfig,
  type Role,
  roles,
} from './config.ts';
export {
  openDatabase,
  type Queryable,
  type Sql,
  type Statement,
  type Transaction,
  writeTransaction,
} from './database.ts';
export { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
export { runtimeErrors } from './errors.ts';
export { AlreadyRunningError } from './instance-lock.ts';
export {
  type Cron,
  enqueueJobs,
  type Job,
  runDueJobs,
  startWorker,
  type TaskHandler,
  type Tasks,
  type Worker,
} from './jobs.ts';
export { type Log, openLog } from './log.ts';
export { type Metrics, openMetrics } from './metrics.ts';
export { MigrationError, migrate } from './migrate.ts';
export { openRuntime, type Runtime, shopLocale, timeZone } from './runtime.ts';
export { type Setting, type SettingRow, type Settings, setting } from './settings.ts';
export type { Store } from './store.ts';
