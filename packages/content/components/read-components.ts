import type { Locale } from '@tradepost/core';
import { isStorable, parseTolerant, requiredText, text } from '@tradepost/http';
import { z } from 'zod';
import { contentErrors } from '../errors.ts';
import { maxComponents, maxDepth, maxPageBytes } from '../limits.ts';
import { cleanTexts } from './clean-texts.ts';
import { componentStyle, pageStyle } from './page-style.ts';

/** The PC page has a style beside its components. All other pages are lists of components. */
export const isPcPage = (pageKey: string): boolean => pageKey === 'pc';

/** A component keeps all fields that it has. */
const components = z
  .array(
    z.looseObject({
      id: z.union([text(100), z.number()]).optional(),
      type: requiredText(50),
      props: z.record(z.string(), z.unknown()).optional(),
      style: componentStyle.optional(),
    }),
  )
  .max(maxComponents);

const listPage = z.object({ components });
const pcPage = z.object({ components: z.object({ pageStyle, components: components.default([]) }) });

/** What a page without saved content has, as stored. */
export const emptyComponents = (pageKey: string): string =>
  JSON.stringify(isPcPage(pageKey) ? pcPage.parse({ components: {} }).components : []);

/** Editors send lists and objects. A client that sends back the row that it got sends JSON text. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    throw contentErrors.components_json();
  }
}

function formOf(pageKey: string, value: unknown): object {
  const isList = Array.isArray(value);
  if (isPcPage(pageKey)) return { components: isList ? { components: value } : value };
  if (!isList) throw contentErrors.components_form();
  return { components: value };
}

const isWithin = (value: unknown, depth: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (depth > 0 && Object.values(value).every((part) => isWithin(part, depth - 1)));

/**
 * The content of a page as it is stored: checked, with defaults, sanitised. Throws the refusal that names the wrong field,
 * such as `components.pageStyle.content.maxWidth`.
 */
export function readComponents(
  pageKey: string,
  value: unknown,
  { locale, relative }: { locale: Locale; relative: (url: string) => string },
): string {
  const sent = parsed(value);
  // Before the schema, which walks into the value.
  if (!isWithin(sent, maxDepth)) throw contentErrors.too_deep({ field: 'components', max: maxDepth });
  if (!isStorable(sent, maxDepth)) throw contentErrors.unstorable({ field: 'components' });
  const schema = isPcPage(pageKey) ? pcPage : listPage;
  const { components: checked } = parseTolerant<z.ZodType<{ components: unknown }>>(
    schema,
    formOf(pageKey, sent),
    locale,
  );
  const stored = JSON.stringify(cleanTexts(checked, relative));
  if (Buffer.byteLength(stored) > maxPageBytes) throw contentErrors.components_size({ max: maxPageBytes });
  return stored;
}
