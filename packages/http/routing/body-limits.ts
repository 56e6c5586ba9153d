import { SMALL_BODY } from '../transports/body-budget.ts';
import type { Auth, Route } from './route.ts';

/** The `bodyLimit` of routes that take a list or a whole product, in bytes. */
export const largeBody = 1024 * 1024;
const signedInBody = 64 * 1024;

/** The largest streamed body of a route that declares none. MAX_UPLOAD_BYTES allows at most this. */
const largestUpload = 2 ** 30;

type Limited = { readonly auth: Auth; readonly bodyLimit?: number; readonly bodyStream?: boolean };

const defaultLimitOf = ({ auth, bodyStream }: Limited): number => {
  if (bodyStream) return largestUpload;
  return auth === 'public' || auth === 'optional' ? SMALL_BODY : signedInBody;
};

/** The largest body of a route in bytes. MAX_BODY_BYTES or MAX_UPLOAD_BYTES may lower it further. */
export const bodyLimitOf = (route: Limited): number => Math.max(SMALL_BODY, route.bodyLimit ?? defaultLimitOf(route));

/**
 * Returns the limit of a streamed body by method and path without query, and 0 for every other route. Undefined when no
 * route streams. A path in another spelling of the same route is not found: its body is collected, within the smallest
 * limit.
 */
export const openStreamLimits = (routes: readonly Route[]): ((method: string, path: string) => number) | undefined => {
  const streamed = routes.filter(({ bodyStream }) => bodyStream);
  if (streamed.length === 0) return undefined;
  const limits = new Map(
    streamed.map((route) => [route.path, { method: route.method as string, limit: bodyLimitOf(route) }]),
  );
  return (method, path) => {
    const found = limits.get(path);
    return found?.method === method ? found.limit : 0;
  };
};

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
