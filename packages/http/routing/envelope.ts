import { FastResponse } from 'srvx';
import { faultOf, httpErrors } from './errors.ts';
import { newTraceId } from './trace.ts';

const jsonType = 'application/json; charset=utf-8';
/** Clients on another origin call us without cookies (contract: commerce.md 4). */
export const anyOrigin: [string, string] = ['access-control-allow-origin', '*'];
/** Seconds. What is refused with 503 passes soon: a full queue, a database that is started again. */
const retrySoon: [string, string] = ['retry-after', '1'];
const jsonHeader: [string, string] = ['content-type', jsonType];

export function respond(status: number, text: string, traceId: string, extra?: [string, string][]): Response {
  const headers: [string, string][] = [jsonHeader, ['x-request-id', traceId], anyOrigin];
  if (status === 503) headers.push(retrySoon);
  if (extra) headers.push(...extra);
  return new FastResponse(text, status === 200 ? { headers } : { status, headers });
}

/** The one place where an envelope is built. `msg` repeats `message` because clients read it. */
export function envelope(code: number, message: string, data: unknown): string {
  const text = JSON.stringify(message);
  return `{"code":${code},"message":${text},"msg":${text},"data":${data === undefined ? 'null' : JSON.stringify(data)}}`;
}

/** What the transport answers before a request reaches the application. `limit`: bytes that the body may have. */
export function transportFault(status: number, limit = 0): { headers: Record<string, string>; body: string } {
  const fault = status === 413 ? httpErrors.body_too_large({ limit: String(limit) }) : faultOf(status, newTraceId());
  const headers = Object.fromEntries([jsonHeader, anyOrigin]);
  return { headers, body: envelope(fault.code, fault.messageIn('en'), null) };
}
