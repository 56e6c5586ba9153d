import { list } from '@tradepost/http';
import { z } from 'zod';
import { maxChartDays } from './limits.ts';

const name = () => z.string().meta({ examples: ['Sales'] });
export const number = () => z.number().meta({ examples: [12.9] });
export const percent = () => z.number().meta({ description: 'percent', examples: [12.5] });

/** A chart with categories: `max` of them, and `series` lines. */
export const seriesOf = (max = maxChartDays, series = 3) =>
  z.object({
    categories: list(z.string(), max),
    series: list(z.object({ name: name(), data: list(number(), max) }), series),
  });
export type Series = z.infer<ReturnType<typeof seriesOf>>;

/** The parts of a whole. */
export const pieOf = (max: number) => list(z.object({ name: name(), value: number() }), max);
export type Pie = { name: string; value: number }[];
