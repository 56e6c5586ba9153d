import { SMALL_BODY } from '../transports/body-budget.ts';
import type { Auth, Route } from './route.ts';

/** The `bodyLimit` of routes that take a list or a whole product, in bytes. */
export const largeBody = 1024 * 1024;
const signedInBody = 64 * 1024;

/** The largest body of a route in bytes. MAX_BODY_BYTES may lower it further. */
export const bodyLimitOf = (route: { readonly auth: Auth; readonly bodyLimit?: number }): number =>
  Math.max(
    SMALL_BODY,
    route.bodyLimit ?? (route.auth === 'public' || route.auth === 'optional' ? SMALL_BODY : signedInBody),
  );

type Pattern = { parts: readonly string[]; limit: number };

/** Returns the body limit of a request by method and path without query. An unknown route has the smallest limit. */
export const openBodyLimits = (routes: readonly Route[]): ((method: string, path: string) => number) => {
  const patterns = new Map<string, Pattern[]>();
  const byParameters = [...routes].sort((a, b) => a.path.split('/:').length - b.path.split('/:').length);
  for (const route of byParameters) {
    const parts = route.path.split('/');
    const key = `${route.method} ${parts.length}`;
    const pattern = { parts, limit: bodyLimitOf(route) };
    const known = patterns.get(key);
    if (known) known.push(pattern);
    else patterns.set(key, [pattern]);
  }
  return (method, path) => {
    const parts = path.split('/', 20);
    const found = patterns
      .get(`${method} ${parts.length}`)
      ?.find((pattern) => pattern.parts.every((part, i) => part.startsWith(':') || part === parts[i]));
    return found?.limit ?? SMALL_BODY;
  };
};
