import type { Locale, Localized } from './locale.ts';

export type Labels = Readonly<Record<string | number, Localized>>;

/** The `<field>_label` text of a value; a value without one is shown as it is. */
export function labelOf(labels: Labels, value: string | number, locale: Locale): string {
  return labels[value]?.[locale] ?? String(value);
}
