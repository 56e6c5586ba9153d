import { textCell, textOf } from '@tradepost/csv';
import type { ProductImage } from '../products/product.ts';
import type { Attribute } from '../products/sku-matrix.ts';

/** Splits at each `separator` without a backslash. A backslash removes the meaning of the character after it. */
function splitEscaped(text: string, separator: string): string[] {
  const parts = [''];
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i]!;
    if (char === '\\') {
      parts[parts.length - 1] += char + (text[i + 1] ?? '');
      i += 1;
    } else if (char === separator) parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts;
}

/** Trims blanks that no backslash protects. */
function plainOf(part: string): string {
  const chars = [...part.matchAll(/\\([\s\S])|([\s\S])/g)].map(([, kept, bare]) => ({ char: kept ?? bare!, kept }));
  const counts = chars.map(({ char, kept }) => kept !== undefined || char.trim() !== '');
  const begin = counts.indexOf(true);
  if (begin < 0) return '';
  return chars
    .slice(begin, counts.lastIndexOf(true) + 1)
    .map(({ char }) => char)
    .join('');
}
const protect = (part: string, special: RegExp): string => part.replace(special, '\\$&').replace(/^\s|\s$/g, '\\$&');

const pairSpecial = /[\\=;]/g;

/** `Colour=Cream; Size=L` */
export const pairsCell = (pairs: readonly Attribute[]): string =>
  textCell(pairs.map(({ name, value }) => `${protect(name, pairSpecial)}=${protect(value, pairSpecial)}`).join('; '));

/** The pairs of a cell, or null when it does not consist of pairs. */
export function pairsOf(cell: string): Attribute[] | null {
  const text = textOf(cell);
  if (text.trim() === '') return [];
  const pairs = splitEscaped(text, ';').map((part) => splitEscaped(part, '=').map(plainOf));
  if (pairs.some((pair) => pair.length !== 2)) return null;
  return pairs.map(([name, value]) => ({ name: name!, value: value! }));
}

/** `Kitchen / Mugs`, from the root down. */
export const pathCell = (names: readonly string[]): string =>
  textCell(names.map((name) => protect(name, /[\\/]/g)).join(' / '));

export function pathOf(cell: string): string[] {
  const text = textOf(cell);
  return text.trim() === '' ? [] : splitEscaped(text, '/').map(plainOf);
}

type Image = Pick<ProductImage, 'url' | 'sort'>;

/** One address per line. JSON when the pictures are not numbered in their order. */
export function imagesCell(images: readonly Image[]): string {
  const plain = images.every(({ url, sort }, index) => sort === index && url === url.trim() && !/[\r\n]/.test(url));
  if (plain && !images[0]?.url.startsWith('[')) return textCell(images.map((image) => image.url).join('\n'));
  return JSON.stringify(images.map(({ url, sort }) => ({ url, sort })));
}

/** Images for the schema of the editor, not checked yet. Null when the cell is not a list. */
export function imagesOf(cell: string): unknown[] | null {
  const text = textOf(cell).trim();
  if (!text.startsWith('['))
    return text
      .split(/\r\n|\r|\n/)
      .map((url) => url.trim())
      .filter(Boolean)
      .map((url, sort) => ({ url, sort }));
  const parsed = jsonOf(text);
  return Array.isArray(parsed) ? parsed : null;
}

/** The JSON of a cell, or undefined when it is not JSON. */
export function jsonOf(cell: string): unknown {
  try {
    return JSON.parse(cell);
  } catch {
    return undefined;
  }
}
