import type { Locale } from '@tradepost/core';
import type { z } from 'zod';
import { httpErrors } from '../routing/errors.ts';
import { describeIssue } from './issue-texts.ts';
import { tolerantBody } from './tolerant.ts';

const describe = { en: describeIssue('en'), 'zh-CN': describeIssue('zh-CN') } as const;

function pathOf(path: readonly PropertyKey[], whole: string): string {
  let text = '';
  for (const part of path) text += typeof part === 'number' ? `[${part}]` : text ? `.${String(part)}` : String(part);
  return text || whole;
}

/** Parses `value`, or names its invalid fields in the language of the caller. `whole` names the value itself. */
export function parseField<S extends z.ZodType>(
  schema: S,
  value: unknown,
  locale: Locale,
  whole: string,
): { data: z.output<S> } | { fault: string } {
  const parsed = schema.safeParse(value, { error: describe[locale] as never });
  if (parsed.success) return { data: parsed.data };
  const faults = parsed.error.issues.slice(0, 5).map((issue) => `${pathOf(issue.path, whole)}: ${issue.message}`);
  return { fault: faults.join('; ') };
}

/**
 * Parses `value`. Throws the refusal that names every invalid field, in the language of the caller. `whole` names the
 * value itself, for a fault that is not in one of its fields.
 */
export function parseOrRefuse<S extends z.ZodType>(
  schema: S,
  value: unknown,
  locale: Locale,
  whole: string,
): z.output<S> {
  const parsed = parseField(schema, value, locale, whole);
  if ('data' in parsed) return parsed.data;
  throw httpErrors.invalid_field({ reason: parsed.fault });
}

/**
 * Parses a part of a body whose schema depends on the request, with the tolerances of a body. Throws the refusal that names
 * every invalid field.
 */
export const parseTolerant = <S extends z.ZodType>(schema: S, value: unknown, locale: Locale): z.output<S> =>
  parseOrRefuse(schema, tolerantBody(schema)(value), locale, 'body');
