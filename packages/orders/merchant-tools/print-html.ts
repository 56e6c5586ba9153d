/** HTML that is safe by construction: only what a literal of ours says is markup, every value in it is text. */
export type Html = { readonly html: string };

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string) => text.replace(/[&<>"']/g, (char) => entities[char]!);

type Value = string | number | Html | readonly Html[];
function rendered(value: Value): string {
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value));
  return 'html' in value ? value.html : value.map((part) => part.html).join('');
}

export function html(literals: TemplateStringsArray, ...values: readonly Value[]): Html {
  return {
    html: literals.map((literal, index) => literal + (index < values.length ? rendered(values[index]!) : '')).join(''),
  };
}
