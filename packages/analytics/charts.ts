import type { Locale, Localized } from '@tradepost/core';
import type { Pie, Series } from './schemas.ts';

/** `part` of `whole` in percent with two decimals: 0 without a whole, and at most 100. */
export const percentOf = (part: number, whole: number): number =>
  whole <= 0 ? 0 : Math.round(Math.min(part / whole, 1) * 10_000) / 100;

/** `a / b` with two decimals, 0 without `b`. */
export const ratioOf = (a: number, b: number): number => (b === 0 ? 0 : Math.round((a / b) * 100) / 100);

/** The change from `before` to `now`: 0.18 means 18 % more. 0 when there was nothing before. */
export const changeOf = (now: number, before: number): number =>
  before === 0 ? 0 : Math.round(((now - before) / before) * 10_000) / 10_000;

export const pie = (names: readonly Localized[], values: readonly number[], locale: Locale): Pie =>
  names.map((name, n) => ({ name: name[locale], value: values[n] ?? 0 }));

export const series = (
  categories: readonly string[],
  lines: readonly (readonly [name: Localized, data: readonly number[]])[],
  locale: Locale,
): Series => ({
  categories: [...categories],
  series: lines.map(([name, data]) => ({ name: name[locale], data: [...data] })),
});
