import { FastResponse } from 'srvx';
import { faultOf, httpErrors } from './errors.ts';
import { newTraceId } from './trace.ts';

const jsonType = 'application/json; charset=utf-8';
/** Clients on any origin may call, because no cookie authenticates a request. */
export const anyOrigin: [string, string] = ['access-control-allow-origin', '*'];
/** Seconds. The causes of 503 are short: a full queue, or a database that restarts. */
const retrySoon: [string, string] = ['retry-after', '1'];
const jsonHeader: [string, string] = ['content-type', jsonType];

export function respond(
  status: number,
  body: string | Uint8Array<ArrayBuffer> | null,
  traceId: string,
  extra?: readonly [string, string][],
): Response {
  const headers: [string, string][] = [jsonHeader, ['x-request-id', traceId], anyOrigin];
  if (status === 503) headers.push(retrySoon);
  if (extra) headers.push(...extra);
  return new FastResponse(body, status === 200 ? { headers } : { status, headers });
}

/** Builds the envelope; no other function does. `msg` repeats `message`, because some clients read `msg`. */
export function envelope(code: number, message: string, data: unknown): string {
  const text = JSON.stringify(message);
  return `{"code":${code},"message":${text},"msg":${text},"data":${data === undefined ? 'null' : JSON.stringify(data)}}`;
}

/**
 * The answer of the transport to a request that does not reach the application. `limit` is the body limit in bytes, for
 * 413.
 */
export function transportFault(status: number, limit = 0): { headers: Record<string, string>; body: string } {
  const fault = status === 413 ? httpErrors.body_too_large({ limit: String(limit) }) : faultOf(status, newTraceId());
  const headers = Object.fromEntries([jsonHeader, anyOrigin]);
  return { headers, body: envelope(fault.code, fault.messageIn('en'), null) };
}
