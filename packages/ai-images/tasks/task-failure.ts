import { AppError } from '@tradepost/core';
import { ServiceError } from '../drivers/driver.ts';
import { scrubbed } from '../drivers/scrub.ts';
import type { TaskFailure } from './task-store.ts';

/** The failure of an attempt, and whether another attempt can succeed. */
export function failureOf(error: unknown, apiKey: string): TaskFailure & { permanent: boolean; retryAfterMs: number } {
  if (error instanceof ServiceError)
    return {
      ...{ name: error.failure, values: { reason: scrubbed(error.message, apiKey) } },
      ...{ permanent: error.permanent, retryAfterMs: error.retryAfterMs },
    };
  // A refusal of the storage. Another attempt would pay for other pictures.
  if (error instanceof AppError)
    return {
      ...{ name: 'not_stored', values: { reason: error.message } },
      ...{ permanent: true, retryAfterMs: 0 },
    };
  throw error;
}
