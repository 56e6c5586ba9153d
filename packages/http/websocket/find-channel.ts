type WithPath = { readonly path: string };

/** The path parameters, or null for a path that does not fit or is not valid percent-encoding. */
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

type Found<C> = { channel: C; params: Record<string, string> };

/** Finds a channel by the path of a request, without query. A path with fewer parameters wins. */
export function openChannelFinder<C extends WithPath>(channels: readonly C[]): (path: string) => Found<C> | null {
  const patterns = [...channels]
    .sort((a, b) => a.path.split('/:').length - b.path.split('/:').length)
    .map((channel) => ({ channel, parts: channel.path.split('/') }));
  return (path) => {
    const parts = path.split('/', 20);
    for (const { channel, parts: pattern } of patterns) {
      const params = paramsOf(pattern, parts);
      if (params) return { channel, params };
    }
    return null;
  };
}
