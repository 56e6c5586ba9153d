import { isIP } from 'node:net';
import type { Config } from '@tradepost/runtime';

type PublicAddress = Pick<Config, 'publicUrl' | 'publicHosts' | 'production' | 'host'>;

/**
 * Cached by the identity of the configured array, which is frozen: built once per process. Maps a host to its origin.
 */
const origins = new WeakMap<readonly string[], ReadonlyMap<string, string>>();

function configuredOrigins(hosts: readonly string[]): ReadonlyMap<string, string> {
  let map = origins.get(hosts);
  if (map) return map;
  map = new Map(
    hosts.map((entry) => {
      const origin = entry.includes('://') ? entry : `http://${entry}`;
      return [origin.slice(origin.indexOf('//') + 2), origin] as const;
    }),
  );
  origins.set(hosts, map);
  return map;
}

/**
 * True for `localhost`, for the name that the server listens on, and for IP addresses. Developers and their devices use
 * these.
 */
function isOwnHost(host: string, listening: string): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || name === listening || isIP(name) !== 0;
}

/**
 * The beginning of the file URLs of this request, without a slash at the end. Any client can write the Host header. So
 * the header counts only where `PUBLIC_HOSTS` lists it and, outside production, where it names this machine. Otherwise
 * the result is '', which makes the URLs relative to the site.
 */
function originOf(request: Request, { publicUrl, publicHosts, production, host: listening }: PublicAddress): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/$/, '');
  const host = request.url.slice(request.url.indexOf('//') + 2, request.url.indexOf('/', 8)).toLowerCase();
  const configured = configuredOrigins(publicHosts).get(host);
  if (configured !== undefined) return configured;
  return !production && isOwnHost(host, listening) ? `http://${host}` : '';
}

/**
 * Converts between stored paths of uploads and the URLs that clients see. Answers have absolute URLs, because clients
 * on other origins use them in `img src` unchanged. An editor sends those URLs back. They are stored as paths, so that
 * the shop can move to another address.
 */
export function fileUrls(request: Request, config: PublicAddress) {
  const origin = originOf(request, config);
  return {
    absolute: (path: string) => (path.startsWith('/') ? origin + path : path),
    relative: (url: string) => (url.startsWith(`${origin}/uploads/`) ? url.slice(origin.length) : url),
  };
}

/**
 * Whether an address of a picture can be stored: a path or an http address. Addresses that a browser would run or inline
 * have another scheme. Browsers ignore blanks and control characters in a scheme.
 */
export const isPictureAddress = (url: string): boolean =>
  !/^(?!https?:)[a-z][a-z0-9+.-]*:/i.test(url.replace(/[\s\p{Cc}]+/gu, ''));
