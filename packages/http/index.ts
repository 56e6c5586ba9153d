export { type App, type Authenticate, createApp } from './app.ts';
export { batchIds, batchResult, batchResultSchema, maxBatch } from './batch-result.ts';
export { largeBody } from './body-limits.ts';
export { clientAddress, clientNetwork } from './client-address.ts';
export { countBodies } from './count-bodies.ts';
export { envelope } from './envelope.ts';
export {
  amount,
  amountInput,
  bit,
  id,
  idOrZero,
  idParams,
  isStorable,
  list,
  nothing,
  pagedOf,
  pageQueryWith,
  requiredText,
  text,
  timestamp,
  url,
} from './fields.ts';
export { fileUrls } from './file-urls.ts';
export { fileResponse } from './files.ts';
export type { Module } from './module.ts';
export { requestLocale } from './request-locale.ts';
export type { Resource } from './resource.ts';
export { type Auth, type Caller, defineRoute, type Route, type RouteContext } from './route.ts';
export { serve } from './serve.ts';
export { systemResources } from './system-resources.ts';
export { zeroWhenEmpty } from './tolerant.ts';
export type { Transport } from './transport.ts';
export { loadUws } from './uws-binary.ts';
