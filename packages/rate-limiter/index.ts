export { type EmbeddedLimiter, openEmbeddedLimiter } from './embedded/embedded-limiter.ts';
export type { LimiterLog } from './limiter-log.ts';
export {
  type Admitted,
  type Dimension,
  dimensionName,
  dimensions,
  type KeyKind,
  type KeyRef,
  type KeyUsage,
  keyKinds,
  type Limiter,
  type Limits,
  maxCost,
  type Refused,
  type Subject,
  type Tightest,
  type Verdict,
  windowMs,
} from './limits.ts';
export { LimiterStoreError } from './redis/inspect-logs.ts';
export { openRedisLimiter, type RedisLimiter } from './redis/redis-limiter.ts';
export { unlimitedAdmission } from './verdict.ts';
