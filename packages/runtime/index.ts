export type { Audit } from './audits/audit.ts';
export { type AuditResult, auditPassed, runAudits } from './audits/run-audits.ts';
export { runtimeAudits } from './audits/runtime-audits.ts';
export { accountName, checkFolder, spaceOf } from './check-folder.ts';
export { type ConcurrencyLimit, createConcurrencyLimit, withSlot } from './concurrency-limit.ts';
export { describeConfig } from './config/describe-config.ts';
export {
  type Config,
  type ConfigKey,
  type LoadedConfig,
  type MisspeltVariable,
  type Role,
  roles,
} from './config/fields.ts';
export { AlreadyRunningError } from './config/instance-lock.ts';
export { ConfigError, loadConfig, misspeltText } from './config/load-config.ts';
export { meantText } from './config/similar-name.ts';
export { type DatabaseServer, openDatabaseServer } from './database-server.ts';
export { runtimeErrors } from './errors.ts';
export type { RecordOutcomes } from './group-commits.ts';
export type { Claim, Repeat, StoredAnswer, Write } from './idempotency/idempotency.ts';
export { exposeJobs } from './jobs/job-metrics.ts';
export {
  discardJobs,
  forgetFailedJobs,
  hasOpenJob,
  type JobFilter,
  type JobRow,
  type JobState,
  retryJobs,
  selectJob,
  selectJobCounts,
  selectJobs,
} from './jobs/job-store.ts';
export {
  type Cron,
  enqueueJobs,
  type Job,
  type TaskHandler,
  type Tasks,
  type Worker,
} from './jobs/jobs.ts';
export { type Loop, startLoops } from './jobs/loops.ts';
export { runDueJobs, startWorker, unlockJobs } from './jobs/run-jobs.ts';
export { noRest, type Rest } from './jobs/spare-cpu.ts';
export { sweepJob } from './jobs/sweep-job.ts';
export { migrateDatabase } from './migrate-database.ts';
export { openCountedWarning } from './observability/counted-warning.ts';
export { callOperation, serverOperation, tracedFetch } from './observability/http-spans.ts';
export { type Log, openLog } from './observability/log.ts';
export { defineMetrics, type Metrics, openMetrics, startAtZero } from './observability/metrics.ts';
export type { PartState, Parts } from './observability/parts.ts';
export {
  annotateSpan,
  beginCall,
  inCall,
  inTrace,
  type Operation,
  type Span,
  traceparentOf,
} from './observability/spans.ts';
export { currentTrace, traceHeaders, traceOf, withTrace } from './observability/trace.ts';
export { dispatchEvents } from './outbox/dispatch-events.ts';
export { defineEvent, type EventKind, type EventReader, minorUnits, type OutboxEvent } from './outbox/event-kind.ts';
export {
  dispatchedSince,
  type EventFilter,
  type EventRow,
  type EventState,
  recordEvents,
  retryEvents,
  selectBacklog,
  selectEvents,
} from './outbox/outbox-store.ts';
export { announceProcess } from './processes/announce-process.ts';
export { type ServerProcess, selectProcesses } from './processes/process-store.ts';
export { type RetentionRule, retentionDays, runtimeRetention } from './retention/retention.ts';
export { daysInForce, runRetention } from './retention/run-retention.ts';
export {
  acceptLanguage,
  actingRuntime,
  demoShop,
  NotServingError,
  openRuntime,
  type Runtime,
  runtimeSettings,
  shopLocale,
  timeZone,
} from './runtime.ts';
export { secretsMask } from './secrets/mask-secrets.ts';
export { countSealed, type Resealed, resealColumn } from './secrets/reseal.ts';
export type { SealedColumn } from './secrets/sealed-column.ts';
export { forgetKey } from './secrets/secret-key-store.ts';
export { openSecrets, type Secrets, type SecretsStatus, secretsKeyFileOf } from './secrets/secrets.ts';
export { isHttpAddress } from './settings/http-address.ts';
export { type OpenedSetting, openStored, sealPlainSettings, settingsColumn } from './settings/sealed-settings.ts';
export {
  type ConfigPage,
  type Setting,
  type SettingField,
  type SettingRow,
  secretMask,
  setting,
} from './settings/setting.ts';
export {
  markDemoShop,
  type SettingChange,
  type SettingChanges,
  selectStoredSettings,
} from './settings/setting-store.ts';
export type { SettingAuthor, Settings } from './settings/settings.ts';
export { inspectRedis } from './store/inspect-redis.ts';
export { type Fresh, keepFresh, staleAfterMs } from './store/keep-fresh.ts';
export { faultCode, type KeptConnections, keptConnections, networkFaultText } from './store/kept-connections.ts';
export { openStore } from './store/open-store.ts';
export { redisFault } from './store/redis-fault.ts';
export type { Store } from './store/store.ts';
export {
  jobSchema,
  jobSchemaStateTables,
  runtimeInChangeLog,
  runtimePublishes,
  runtimeTables,
  type TableInChangeLog,
} from './tables.ts';
