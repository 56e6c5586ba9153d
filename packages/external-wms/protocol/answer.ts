import { secretsMask } from '@tradepost/runtime';

/** The outcome of one call. */
export type CallOutcome =
  | { kind: 'success'; code: 0; message: string; data: unknown }
  /** The partner has refused. The same call would be refused again. */
  | { kind: 'refused'; code: number; message: string }
  | RetryOutcome;
/**
 * The call is retried: the code is retryable, or there was no answer of the protocol (code null). It is unknown whether the
 * partner carried out the action.
 */
export type RetryOutcome = {
  kind: 'retry';
  code: number | null;
  message: string;
  /** The call was not sent, so the partner did nothing. */
  unsent?: true;
};

export const noAnswer = (message: string): RetryOutcome => ({ kind: 'retry', code: null, message });

/**
 * Prepares a text of the partner for tables and logs: one line of at most 500 characters that PostgreSQL can store. A partner may
 * quote the request, so the secret, also in base64 and other forms, and everything with the form of a signature are masked. Masking comes before the cut, which
 * could otherwise leave half of a secret.
 */
export function partnerText(value: unknown, secret: string): string {
  if (typeof value !== 'string') return '';
  const masked = secretsMask([secret])(value).replace(/[0-9a-f]{64}/gi, '***');
  return masked
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 500)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed();
}

/** The parsed text; undefined when it is not JSON. No JSON text has the value undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
