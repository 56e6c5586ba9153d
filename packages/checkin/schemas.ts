import { id, idOrZero, list, pageQueryWith, zeroWhenEmpty } from '@tradepost/http';
import { z } from 'zod';
import { maxRuleDay, maxRulePoints, maxRules } from './limits.ts';

/** The most days of a month. */
const maxMonthDays = 31;
const day = () => z.string().meta({ format: 'date', examples: ['2026-03-01'] });
const days = () =>
  z
    .int()
    .min(1)
    .meta({ examples: [3] });
const points = () =>
  z
    .int()
    .min(0)
    .meta({ examples: [20] });

export const checkedInView = z.object({ points: points(), consecutive_days: days() });

export const statusView = z.object({
  checked_today: z.boolean(),
  consecutive_days: z
    .int()
    .min(0)
    .meta({ description: '0 when the streak has ended', examples: [3] }),
  month_dates: list(day(), maxMonthDays).describe('the days of this month with a check-in'),
  month_count: z
    .int()
    .min(0)
    .meta({ examples: [12] }),
  month_points: points(),
});

const ruleView = z
  .object({
    id: id(),
    day: z
      .int()
      .min(0)
      .max(maxRuleDay)
      .meta({ description: 'the day of the streak; 0 = default', examples: [3] }),
    points: points(),
  })
  .meta({ id: 'CheckinRule' });
export const rulesView = list(ruleView, maxRules);

export const rulesBody = z
  .array(
    z.object({
      day: zeroWhenEmpty(
        z
          .int()
          .min(0)
          .max(maxRuleDay)
          .meta({ examples: [5] }),
      ),
      points: zeroWhenEmpty(
        z
          .int()
          .min(0)
          .max(maxRulePoints)
          .meta({ examples: [30] }),
      ),
    }),
  )
  .max(maxRules);

export const logQuery = pageQueryWith({ user_id: idOrZero().optional() });
export const logView = z.object({
  id: id(),
  user_id: id(),
  user_nickname: z.string().meta({ examples: ['Li Wei'] }),
  date: day(),
  consecutive_days: days(),
  points: points(),
  created_at: z.string().meta({ format: 'date-time', examples: ['2026-03-01T09:30:00+08:00'] }),
});
