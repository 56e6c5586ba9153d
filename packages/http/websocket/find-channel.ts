type WithPath = { readonly path: string };

/** The path parameters, or null when the path does not fit or is not valid percent-encoding. */
function paramsOf(pattern: readonly string[], parts: readonly string[]): Record<string, string> | null {
  if (pattern.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [i, expected] of pattern.entries()) {
    const part = parts[i]!;
    if (!expected.startsWith(':')) {
      if (expected !== part) return null;
      continue;
    }
    if (part === '') return null;
    try {
      params[expected.slice(1)] = decodeURIComponent(part);
    } catch {
      return null;
    }
  }
  return params;
}

type Found<C> = { match: C; params: Record<string, string> };

/** Finds a channel by the path of a request, without query. A path with fewer parameters has priority. */
export function openChannelFinder<C extends WithPath>(entries: readonly C[]): (path: string) => Found<C> | null {
  const patterns = [...entries]
    .sort((a, b) => a.path.split('/:').length - b.path.split('/:').length)
    .map((entry) => ({ match: entry, parts: entry.path.split('/') }));
  return (path) => {
    const parts = path.split('/', 20);
    for (const { match, parts: pattern } of patterns) {
      const params = paramsOf(pattern, parts);
      if (params) return { match, params };
    }
    return null;
  };
}
