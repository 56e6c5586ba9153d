export type { Audit } from './audit.ts';
export { type Coalesced, type CoalesceOptions, coalesce, lostConnection } from './coalesce.ts';
export { type ConcurrencyLimit, createConcurrencyLimit } from './concurrency-limit.ts';
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
export { openCountedWarning } from './counted-warning.ts';
export {
  openDatabase,
  plannedByValue,
  type Queryable,
  type Sql,
  type Statement,
  type Transaction,
  writeTransaction,
} from './database.ts';
export { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
export { embeddedBinaries, findEmbeddedPostgres, hasEmbeddedPostgres } from './embedded-postgres-find.ts';
export { runtimeErrors } from './errors.ts';
export type { Claim, Repeat, StoredAnswer, Write } from './idempotency.ts';
export { inspectRedis } from './inspect-redis.ts';
export { AlreadyRunningError } from './instance-lock.ts';
export {
  discardJobs,
  forgetFailedJobs,
  type JobFilter,
  type JobRow,
  type JobState,
  retryJobs,
  selectJob,
  selectJobCounts,
  selectJobs,
} from './job-store.ts';
export {
  type Cron,
  enqueueJobs,
  type Job,
  runDueJobs,
  startWorker,
  type TaskHandler,
  type Tasks,
  unlockJobs,
  type Worker,
} from './jobs.ts';
export { type Fresh, keepFresh, staleAfterMs } from './keep-fresh.ts';
export { faultCode, type KeptConnections, keptConnections } from './kept-connections.ts';
export { type Log, openLog } from './log.ts';
export { type Metrics, openMetrics } from './metrics.ts';
export { MigrationError, migrate, migrationState } from './migrate.ts';
export { type RetentionRule, retentionDays, runtimeRetention } from './retention.ts';
export { type AuditResult, auditPassed, runAudits } from './run-audits.ts';
export { daysInForce, runRetention } from './run-retention.ts';
export {
  acceptLanguage,
  demoShop,
  openRuntime,
  type RecordOutcomes,
  type Runtime,
  runtimeSettings,
  shopLocale,
  timeZone,
} from './runtime.ts';
export { runtimeAudits } from './runtime-audits.ts';
export { type ServerFacts, selectServerFacts, selectStoredSettings } from './server-facts-store.ts';
export { markDemoShop, type SettingChange, type SettingChanges } from './setting-store.ts';
export { type Setting, type SettingRow, type Settings, setting } from './settings.ts';
export type { Store } from './store.ts';
