import { errorBody, proxyErrors } from '../messages/openai-errors.ts';
import type { AnswerHeaders, Outcome } from '../upstreams/ask-upstream.ts';
import type { Redactor } from '../upstreams/redact.ts';
import { type HeaderList, jsonType } from './rate-answer.ts';

/** Response headers that come back, beside openai-*: hop-by-hop ones and the upstream's own limits do not. */
const returnedHeaders = new Set([
  'content-type',
  'content-encoding',
  'cache-control',
  'openai-version',
  'openai-model',
  'openai-processing-ms',
]);
/** A longer error body is replaced, as is one in an encoding: neither is looked through for keys. */
const longestError = 64 * 1024;

function returnedOf(status: number, headers: AnswerHeaders, redactor: Redactor): HeaderList {
  const into: HeaderList = [];
  for (const name in headers) {
    const given = headers[name];
    if (typeof given !== 'string') continue;
    const value = redactor.value(given);
    if (returnedHeaders.has(name)) into.push([name, value]);
    else if (name === 'x-request-id') into.push(['x-upstream-request-id', value]);
    else if (status === 429 && (name === 'retry-after' || name === 'retry-after-ms')) into.push([name, value]);
  }
  return into;
}

/** What goes on of an upstream's answer: without the keys of the upstreams, and of its headers those that are for the client. */
export function passedOn(
  outcome: Exclude<Outcome, { kind: 'fault' }>,
  redactor: Redactor,
): { headers: HeaderList; body: Buffer | ReadableStream<Uint8Array> } {
  const { status, headers } = outcome;
  const returned = returnedOf(status, headers, redactor);
  if (outcome.kind === 'stream') return { headers: returned, body: outcome.readable };
  if (status < 400) return { headers: returned, body: outcome.body };
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity' && outcome.body.length <= longestError)
    return { headers: returned, body: redactor.errorBody(outcome.body) };
  const others = returned.filter(([name]) => name !== 'content-type' && name !== 'content-encoding');
  return { headers: [...others, jsonType], body: Buffer.from(errorBody(proxyErrors.upstream_refused(status))) };
}
