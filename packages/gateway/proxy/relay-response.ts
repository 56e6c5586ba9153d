import { errorBody, proxyErrors } from '../messages/openai-errors.ts';
import type { Redactor } from '../upstreams/redact.ts';
import type { AnswerHeaders, Outcome } from '../upstreams/send-to-upstream.ts';
import { type HeaderList, jsonType } from './rate-answer.ts';

/** Headers of an upstream's answer that are relayed. Hop-by-hop headers and the limits of the upstream are not. */
const relayedNames = new Set([
  'content-type',
  'content-encoding',
  'cache-control',
  'openai-version',
  'openai-model',
  'openai-processing-ms',
]);
/** A longer or encoded error body is replaced, because it is not searched for keys. */
const maxErrorLength = 64 * 1024;

function relayedHeaders(status: number, headers: AnswerHeaders, redactor: Redactor): HeaderList {
  const into: HeaderList = [];
  for (const name in headers) {
    const given = headers[name];
    if (typeof given !== 'string') continue;
    const value = redactor.value(given);
    if (relayedNames.has(name)) into.push([name, value]);
    else if (name === 'x-request-id') into.push(['x-upstream-request-id', value]);
    else if (status === 429 && (name === 'retry-after' || name === 'retry-after-ms')) into.push([name, value]);
  }
  return into;
}

/** The part of an upstream's answer that the client receives: without keys of upstreams, and with the headers for clients. */
export function relayedAnswer(
  outcome: Exclude<Outcome, { kind: 'fault' }>,
  redactor: Redactor,
): { headers: HeaderList; body: Buffer | ReadableStream<Uint8Array> } {
  const { status, headers } = outcome;
  const returned = relayedHeaders(status, headers, redactor);
  if (outcome.kind === 'stream') return { headers: returned, body: outcome.readable };
  if (status < 400) return { headers: returned, body: outcome.body };
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity' && outcome.body.length <= maxErrorLength)
    return { headers: returned, body: redactor.errorBody(outcome.body) };
  const others = returned.filter(([name]) => name !== 'content-type' && name !== 'content-encoding');
  return { headers: [...others, jsonType], body: Buffer.from(errorBody(proxyErrors.upstream_refused(status))) };
}
