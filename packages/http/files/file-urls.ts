import { isIP } from 'node:net';
import type { Config } from '@tradepost/runtime';

type PublicAddress = Pick<Config, 'publicUrl' | 'publicHosts' | 'production' | 'host'>;

/** By identity of the (frozen) configuration array: host of a request to origin, built once per process. */
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

/** Names of this machine, the name it listens on, and addresses: what a developer and their devices type. */
function isOwnHost(host: string, listening: string): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || name === listening || isIP(name) !== 0;
}

/**
 * Where file URLs of this request begin, without a slash at the end. The Host header is anybody's to write, so it counts only
 * where it is configured, and outside production for this machine; else '', which makes the URLs relative to the site.
 */
function originOf(request: Request, { publicUrl, publicHosts, production, host: listening }: PublicAddress): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/$/, '');
  const host = request.url.slice(request.url.indexOf('//') + 2, request.url.indexOf('/', 8)).toLowerCase();
  const configured = configuredOrigins(publicHosts).get(host);
  if (configured !== undefined) return configured;
  return !production && isOwnHost(host, listening) ? `http://${host}` : '';
}

/**
 * Uploaded files are stored by path and answered as absolute URLs, since clients on other origins put them into
 * `img src` unchanged. An editor sends those URLs back: they become paths again, so that the shop can move.
 */
export function fileUrls(request: Request, config: PublicAddress) {
  const origin = originOf(request, config);
  return {
    absolute: (path: string) => (path.startsWith('/') ? origin + path : path),
    relative: (url: string) => (url.startsWith(`${origin}/uploads/`) ? url.slice(origin.length) : url),
  };
}
