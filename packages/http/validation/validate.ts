import type { Locale } from '@tradepost/core';
import type { z } from 'zod';
import { httpErrors } from '../routing/errors.ts';
import { describeIssue } from './issue-texts.ts';

const describe = { en: describeIssue('en'), 'zh-CN': describeIssue('zh-CN') } as const;

function pathOf(path: readonly PropertyKey[], whole: string): string {
  let text = '';
  for (const part of path) text += typeof part === 'number' ? `[${part}]` : text ? `.${String(part)}` : String(part);
  return text || whole;
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
  const parsed = schema.safeParse(value, { error: describe[locale] as never });
  if (parsed.success) return parsed.data;
  const reason = parsed.error.issues
    .slice(0, 5)
    .map((issue) => `${pathOf(issue.path, whole)}: ${issue.message}`)
    .join('; ');
  throw httpErrors.invalid_field({ reason });
}
