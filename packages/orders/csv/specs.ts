import type { Attribute } from '@tradepost/catalog';

/** `Colour: Cream; Size: L`. A value without a name is written alone. */
export const specsText = (attrs: readonly Attribute[]): string =>
  attrs.map(({ name, value }) => (name === '' ? value : `${name}: ${value}`)).join('; ');

/** The attributes of such a text. `specsText` of them is the same text again, whatever the text is. */
export function specsOf(text: string): Attribute[] {
  if (text === '') return [];
  const attrs: Attribute[] = [];
  for (const part of text.split('; ')) {
    const at = part.indexOf(': ');
    const last = attrs.at(-1);
    if (at > 0) attrs.push({ name: part.slice(0, at), value: part.slice(at + 2) });
    else if (last) last.value += `; ${part}`;
    else attrs.push({ name: '', value: part });
  }
  return attrs;
}
