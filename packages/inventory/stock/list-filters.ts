import { instantInZone } from '@tradepost/core';
import { text } from '@tradepost/http';
import { z } from 'zod';
import { inventoryErrors } from '../errors.ts';

/** Warehouse lists refuse a size that others would quietly replace (contract: rules 1). */
export const strictPageWith = <S extends z.ZodRawShape>(shape: S) =>
  z.object({
    ...shape,
    page: z
      .int()
      .optional()
      .meta({ examples: [1] }),
    size: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .meta({ examples: [20] }),
  });

const moment = () => text(64).trim().optional();
/** Beginning and end of a list, both within it. */
export const span = {
  start_at: moment().meta({
    description: 'at or after; without offset in the time of the shop',
    examples: ['2026-03-01 00:00:00'],
  }),
  end_at: moment().meta({ description: 'at or before; a date counts to its end', examples: ['2099-03-01'] }),
};
export type Span = { from: Date | null; before: Date | null };

/** Both ends belong to the span: a time without fraction is its whole second, as the lists show no fractions. */
export function spanOf(query: { start_at?: string | undefined; end_at?: string | undefined }, zone: string): Span {
  const at = (field: 'start_at' | 'end_at', edge: 'start' | 'end') => {
    const given = query[field];
    if (!given) return null;
    const instant = instantInZone(given, zone, edge);
    if (!instant) throw inventoryErrors.invalid_moment({ field });
    return instant;
  };
  const end = at('end_at', 'end');
  const step = query.end_at?.includes('.') ? 1 : 1_000;
  return {
    from: at('start_at', 'start'),
    before: end && new Date((Math.floor(end.getTime() / step) + 1) * step),
  };
}
