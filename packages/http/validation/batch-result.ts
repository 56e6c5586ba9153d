import { AppError, type Locale } from '@tradepost/core';
import { z } from 'zod';
import { id, list } from './fields.ts';

/** The largest number of rows in one batch call. A page of the back office is not larger. */
export const maxBatch = 1_000;

export const batchIds = z
  .array(id())
  .max(maxBatch)
  .meta({ description: `at most ${maxBatch}; a repeated id counts once`, examples: [[1]] });

export const batchResultSchema = z
  .object({
    success_ids: list(id(), maxBatch),
    fail: list(z.object({ id: id(), reason: z.string().meta({ examples: ['Not found'] }) }), maxBatch),
  })
  .meta({ id: 'BatchResult' });

/** The result of each row, in the order of the call. An error that is not a refusal fails the whole call. */
export function batchResult(ids: readonly number[], outcomes: readonly unknown[], locale: Locale) {
  const result: z.input<typeof batchResultSchema> = { success_ids: [], fail: [] };
  ids.forEach((id, index) => {
    const outcome = outcomes[index];
    if (outcome instanceof AppError) result.fail.push({ id, reason: outcome.messageIn(locale) });
    else if (outcome instanceof Error) throw outcome;
    else result.success_ids.push(id);
  });
  return result;
}
