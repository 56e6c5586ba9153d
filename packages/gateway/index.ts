export { maxLimit, type TokenStatus, tokenStatuses } from './api-token.ts';
export { selectTokenFacts, selectTokens, type TokenRow, tokensNamed } from './api-token-store.ts';
export { type ApiTokens, openApiTokens } from './api-tokens.ts';
export { resolveKey } from './connect-upstream.ts';
export { type EmbeddedLimiter, openEmbeddedLimiter } from './embedded-limiter.ts';
export { type Gateway, openGateway } from './gateway.ts';
export { gatewayAudits } from './gateway-audits.ts';
export { addressKey, limitsOfKey, type NamedKey, refOf } from './key-limits.ts';
export {
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
  type Subject,
  type Verdict,
  windowMs,
} from './limits.ts';
export { modelKey } from './model-key.ts';
export { openLimiterView } from './open-limiter.ts';
export { gatewayFault } from './openai-errors.ts';
export { pingUpstream, type UpstreamPing, unservedModels } from './ping-upstream.ts';
export { openRedisLimiter, type RedisLimiter } from './redis-limiter.ts';
export { gatewayRetention } from './retention.ts';
export { maxGraceSeconds } from './schemas.ts';
export { gatewaySettings, rateLimitSettings } from './settings.ts';
export { tokenViewOf, tokenViews, userLimitsViewOf } from './token-view.ts';
export { type UpstreamConfig, upstreamSettings } from './upstream-settings.ts';
export { selectUserLimits } from './user-limits-store.ts';
