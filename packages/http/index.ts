export { openAdmin } from './admin/open-admin.ts';
export { fileUrls, isPictureAddress } from './files/file-urls.ts';
export { fileResponse } from './files/files.ts';
export { StreamedFile } from './files/streamed-file.ts';
export { type Html, html } from './html.ts';
export { httpMetrics } from './http-metrics.ts';
export { openApiDocument, type Translate } from './openapi/openapi.ts';
export { systemResources } from './openapi/system-resources.ts';
export { PreparedAnswer } from './prepared-answer.ts';
export { type App, createApp } from './routing/app.ts';
export { largeBody } from './routing/body-limits.ts';
export { clientAddress, clientNetwork } from './routing/client-address.ts';
export { envelope } from './routing/envelope.ts';
export type { Authenticate } from './routing/guard.ts';
export { requestLocale } from './routing/request-locale.ts';
export type { Resource } from './routing/resource.ts';
export { type Auth, type Caller, defineRoute, type Route, type RouteContext } from './routing/route.ts';
export type { UnnamedRefusal } from './routing/unnamed-refusals.ts';
export { type BodyStream, BodyStreamError } from './transports/body-stream.ts';
export { countBodies } from './transports/count-bodies.ts';
export { serve } from './transports/serve.ts';
export type { Transport } from './transports/transport.ts';
export { loadUws } from './transports/uws/binary.ts';
export { batchIds, batchResult, batchResultSchema, maxBatch } from './validation/batch-result.ts';
export {
  amount,
  amountInput,
  binary,
  bit,
  exampleIdParams,
  id,
  idOrZero,
  idParams,
  isStorable,
  lineText,
  list,
  nothing,
  pagedOf,
  pageQueryWith,
  requiredText,
  text,
  timestamp,
  trimmedText,
  url,
} from './validation/fields.ts';
export { zeroWhenEmpty } from './validation/tolerant.ts';
export { parseField, parseTolerant } from './validation/validate.ts';
export {
  type Channel,
  type ChannelContext,
  type ChannelHandlers,
  type ChannelSocket,
  defineChannel,
} from './websocket/define-channel.ts';
export type { Hub } from './websocket/hub.ts';
