export type Path = readonly (string | number)[];

/**
 * A copy of a JSON value with every text replaced. Keys are not texts. `path` is one list that changes while the value is
 * walked: it is right during the call of `replace`.
 */
export function mapTexts(value: unknown, replace: (text: string, path: Path) => string, start: Path = []): unknown {
  const path = [...start];
  const partOf = (key: string | number, part: unknown): unknown => {
    path.push(key);
    const mapped = map(part);
    path.pop();
    return mapped;
  };
  const map = (part: unknown): unknown => {
    if (typeof part === 'string') return replace(part, path);
    if (Array.isArray(part)) return part.map((one, index) => partOf(index, one));
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, one]) => [key, partOf(key, one)]));
  };
  return map(value);
}

/** `components[2].props.link` */
export const fieldOf = (path: Path): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    '',
  );
