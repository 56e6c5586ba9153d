import { htmlEscape } from 'escape-goat';

/** Markup made by the tag `html`. Its literals are markup; every value is escaped, unless it is `Html` itself. */
export type Html = { readonly html: string };

type Value = string | number | Html | readonly Html[];

function rendered(value: Value): string {
  if (typeof value === 'string' || typeof value === 'number') return htmlEscape(String(value));
  return 'html' in value ? value.html : value.map((part) => part.html).join('');
}

export function html(literals: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { html: String.raw({ raw: literals }, ...values.map(rendered)) };
}
