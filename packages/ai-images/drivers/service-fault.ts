import { RefusedAddressError } from '@tradepost/outbound-http';
import { faultCode, networkFaultText } from '@tradepost/runtime';
import { maxRetryAfterMs } from '../limits.ts';
import { ServiceError } from './driver.ts';

/** The time of a header Retry-After in milliseconds. 0 without one. */
function retryAfterMs(header: string | null | undefined): number {
  if (!header) return 0;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), maxRetryAfterMs) : 0;
}

/** The error of an HTTP status. 408, 409, 425, 429 and 5xx can succeed at another attempt. */
export function statusError(status: number, reason: string, retryAfter?: string | null): ServiceError {
  if (status >= 500 || [408, 409, 425, 429].includes(status))
    return new ServiceError('unavailable', reason, { permanent: false, retryAfterMs: retryAfterMs(retryAfter) });
  return new ServiceError('refused', reason, { permanent: true });
}

const tooLarge = 'UND_ERR_RES_EXCEEDED_MAX_SIZE';

/** The innermost cause of an error: `fetch` only says that it has failed. */
function causeOf(error: unknown): unknown {
  let cause = error;
  for (let depth = 0; depth < 5; depth += 1) {
    const next = (cause as { cause?: unknown } | null)?.cause;
    if (next === undefined || next === null) break;
    cause = next;
  }
  return cause;
}

/** The error of a call without a complete answer. */
export function connectionError(error: unknown): ServiceError {
  const cause = causeOf(error);
  if (cause instanceof ServiceError) return cause;
  const name = cause instanceof Error ? cause.name : '';
  if (cause instanceof RefusedAddressError) return new ServiceError('refused', cause.message, { permanent: true });
  if (faultCode(cause) === tooLarge) return new ServiceError('wrong_answer', 'it is too large', { permanent: true });
  if (cause instanceof Error && /redirect/i.test(cause.message))
    return new ServiceError('wrong_answer', 'it is a redirect', { permanent: true });
  if (name === 'SyntaxError') return new ServiceError('wrong_answer', 'it is not JSON', { permanent: false });
  if (['AbortError', 'TimeoutError', 'APIUserAbortError'].includes(name))
    return new ServiceError('unavailable', 'no answer in time', { permanent: false });
  return new ServiceError('unavailable', networkFaultText(cause, 'the connection failed'), { permanent: false });
}
