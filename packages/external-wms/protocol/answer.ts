/** The outcome of one call. */
export type CallOutcome =
  | { kind: 'success'; code: 0; message: string; data: unknown }
  /** The partner has refused; a repeat would not help. */
  | { kind: 'refused'; code: number; message: string }
  | RetryOutcome;
/** To be retried: a retryable code, or no answer of the protocol (code null). It is unknown whether the action was done. */
export type RetryOutcome = {
  kind: 'retry';
  code: number | null;
  message: string;
  /** The call was not sent, so the partner has done nothing. */
  unsent?: true;
};

export const noAnswer = (message: string): RetryOutcome => ({ kind: 'retry', code: null, message });

/**
 * A text of the partner for our tables and logs: one line of at most 500 characters that PostgreSQL stores. Partners quote
 * what they were sent: the secret and whatever looks like a signature are masked, before the cut could halve them.
 */
export function partnerText(value: unknown, secret: string): string {
  if (typeof value !== 'string') return '';
  const masked = (secret === '' ? value : value.replaceAll(secret, '***')).replace(/[0-9a-f]{64}/gi, '***');
  return masked
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 500)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed();
}

/** Undefined, which no JSON text means, where the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
