import { z } from 'zod';
import { type CallOutcome, noAnswer, partnerText } from './answer.ts';

/** The codes that an external warehouse answers with. Any other code is final. */
export const externalCodes = [
  { code: 0, meaning: 'success', retried: false },
  { code: 1001, meaning: 'system busy', retried: true },
  { code: 1002, meaning: 'network or dependency time-out', retried: true },
  { code: 1003, meaning: 'lock conflict', retried: true },
  { code: 2001, meaning: 'downstream processing', retried: true },
  { code: 4001, meaning: 'invalid parameter', retried: false },
  { code: 4002, meaning: 'signature error', retried: false },
  { code: 4003, meaning: 'insufficient stock', retried: false },
  { code: 4004, meaning: 'business failure', retried: false },
  { code: 5000, meaning: 'external service error', retried: true },
  { code: 5001, meaning: 'external gateway error', retried: true },
  { code: 5002, meaning: 'external temporarily unavailable', retried: true },
] as const satisfies readonly { code: number; meaning: string; retried: boolean }[];

const known = new Map<number, (typeof externalCodes)[number]>(externalCodes.map((row) => [row.code, row]));

/** The fields of an answer. Every field but `code` may be of any type. */
const answerFields = z.object({
  code: z.int(),
  message: z.unknown().optional(),
  msg: z.unknown().optional(),
  request_id: z.unknown().optional(),
  data: z.unknown().optional(),
});

/**
 * The outcome of a call from its parsed answer. An answer counts as no answer when it is not of the protocol (the page of a
 * proxy, a code that is text) or has the request_id of another call. An answer without a request_id belongs to this call.
 */
export function classify(answer: unknown, { requestId, secret }: { requestId: string; secret: string }): CallOutcome {
  if (answer === undefined) return noAnswer('the answer is not JSON');
  const parsed = answerFields.safeParse(answer);
  if (!parsed.success) return noAnswer('the answer has no integer code');
  const { code, message, msg, request_id, data } = parsed.data;
  if (request_id !== undefined && request_id !== null && request_id !== '' && request_id !== requestId)
    return noAnswer('the answer carries the request_id of another call');
  const row = known.get(code);
  const text = partnerText(message, secret) || partnerText(msg, secret) || row?.meaning || `code ${code}`;
  if (code === 0) return { kind: 'success', code, message: text, data };
  return row?.retried ? { kind: 'retry', code, message: text } : { kind: 'refused', code, message: text };
}
