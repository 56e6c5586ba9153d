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
 * Parses `value` or throws the refusal that names every field at fault, in the caller's language. `whole` names the
 * value itself when the fault is not in a field of it.
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
