import { instantInZone } from '@tradepost/core';
import { text } from '@tradepost/http';
import { z } from 'zod';
import { inventoryErrors } from '../errors.ts';

/**
 * Paging of the warehouse lists. The contract requires that these lists refuse a `size` out of range. Other lists use
 * the nearest allowed size.
 */
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
/** The time span of a list. Both ends are included. */
export const span = {
  start_at: moment().meta({
    description: 'at or after this time; without an offset it is in the time zone of the shop',
    examples: ['2026-03-01 00:00:00'],
  }),
  end_at: moment().meta({
    description: 'at or before this time; a date means the end of the day',
    examples: ['2099-03-01'],
  }),
};
export type Span = { from: Date | null; before: Date | null };

/**
 * The span as `from` (included) and `before` (excluded). A time without a fraction means the whole second, because the lists
 * show no fractions.
 */
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
