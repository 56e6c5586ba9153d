export { CircuitBreaker, type CircuitBreakerOptions, type CircuitState } from './circuit-breaker.ts';
export { type Coalesced, type CoalesceOptions, coalesce } from './coalesce.ts';
export { AppError, defineErrors, type Refusal, type RefusalFactory, type RefusalValues } from './errors.ts';
export { type Labels, labelOf } from './labels.ts';
export { fill, type Locale, type Localized, locales, negotiateLocale } from './locale.ts';
export { allocate, isWholeCents, type Minor, maxMinor, toMinor, toWire } from './money.ts';
export { largestPage, type Paged, type Paging, paged, pagingOf } from './paging.ts';
export { serviceErrors } from './service-errors.ts';
export { instantInZone, isoInZone, isTimeZone } from './time.ts';
