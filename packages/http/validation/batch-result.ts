import { AppError, type Locale } from '@tradepost/core';
import { z } from 'zod';
import { id, list } from './fields.ts';

/** Most rows of one batch call; a page of the back office has no more. */
export const maxBatch = 1_000;

export const batchIds = z
  .array(id())
  .max(maxBatch)
  .meta({ description: `at most ${maxBatch}; one that is there twice counts once`, examples: [[1]] });

export const batchResultSchema = z
  .object({
    success_ids: list(id(), maxBatch),
    fail: list(z.object({ id: id(), reason: z.string().meta({ examples: ['Not found'] }) }), maxBatch),
  })
  .meta({ id: 'BatchResult' });

/** What became of each row, in the order of the call. A fault of ours is no result: it fails the call. */
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
