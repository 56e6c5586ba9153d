import type { Locale, Localized } from './locale.ts';

export type Labels = Readonly<Record<string | number, Localized>>;

/** The text of `<field>_label` for a value. A value without a label is its own text. */
export function labelOf(labels: Labels, value: string | number, locale: Locale): string {
  return labels[value]?.[locale] ?? String(value);
}
