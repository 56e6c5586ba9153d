export type Path = readonly (string | number)[];

/** A copy of a JSON value with every text replaced. Keys are not texts. */
export function mapTexts(value: unknown, replace: (text: string, path: Path) => string, path: Path = []): unknown {
  if (typeof value === 'string') return replace(value, path);
  if (Array.isArray(value)) return value.map((part, index) => mapTexts(part, replace, [...path, index]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapTexts(part, replace, [...path, key])]));
}

/** `components[2].props.link` */
export const fieldOf = (path: Path): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    '',
  );
