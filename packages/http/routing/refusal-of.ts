import { AppError, serviceErrors } from '@tradepost/core';
import { lostConnection, postgresErrors, refusedConnection } from '@tradepost/postgres';
import type { Log } from '@tradepost/runtime';
import { HTTPError } from 'h3';
import { BodyStreamError } from '../transports/body-stream.ts';
import { faultOf, httpErrors } from './errors.ts';

/** SQLSTATEs of a lock timeout, a deadlock and a serialization failure. The transaction has changed nothing. */
const lockConflicts = new Set(['55P03', '40P01', '40001']);
/**
 * SQLSTATE of our own checks: the write came too late, or from a process that must be restarted. It has changed
 * nothing, and it is logged.
 */
const tooLate = 'TP503';

/** The refusal for a body that did not arrive completely. */
function incomplete({ fault, limit }: BodyStreamError): AppError {
  switch (fault) {
    case 'aborted':
      return httpErrors.body_incomplete();
    case 'timeout':
      return httpErrors.body_timeout();
    case 'too_large':
      return httpErrors.body_too_large({ limit: String(limit) });
    case 'no_memory':
      return httpErrors.too_many_bodies();
  }
}

/** Returns the refusal that a request gets for an error. Logs the error when it is a fault of the server. */
export function refusalOf(error: unknown, traceId: string, log: Log, where: string): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof BodyStreamError) return incomplete(error);
  if (error instanceof HTTPError && error.status < 500) return faultOf(error.status, traceId);
  if (lockConflicts.has(String((error as { code?: unknown } | null)?.code))) return serviceErrors.busy();
  if ((error as { code?: unknown } | null)?.code === tooLate) {
    log.error({ err: error, trace: traceId, where }, 'a check in the database refused a write');
    return serviceErrors.busy();
  }
  if (refusedConnection(error)) {
    log.error({ err: error, trace: traceId, where }, 'PostgreSQL refused a new connection');
    return serviceErrors.busy();
  }
  if (lostConnection(error)) {
    log.warn({ err: error, trace: traceId, where }, 'the database connection was lost during a request');
    return where.startsWith('GET ') ? serviceErrors.busy() : postgresErrors.unknown_outcome();
  }
  const cause = error instanceof HTTPError && error.cause ? error.cause : error;
  log.error({ err: cause, trace: traceId, where }, 'a request failed');
  return httpErrors.internal({ trace: traceId });
}
