import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isMetadataAddress, isPublicAddress, networksOf } from './addresses.ts';
import type { TargetProblem } from './target-url.ts';

/** A name server that does not answer keeps a person waiting no longer than this. */
const checkMs = 5_000;

/** All addresses of a host name. Rejects when the host has no address. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** A connection was refused because of the address. The message has no address: it is shown to those who entered the URL. */
export class RefusedAddressError extends Error {
  readonly code = 'REFUSED_ADDRESS';
  constructor() {
    super('the host has a private or reserved address');
    this.name = 'RefusedAddressError';
  }
}

export type AddressGuard = {
  allows(address: string): boolean;
  /** A `lookup` for sockets. It fails when one of the addresses is not allowed, so the socket uses only checked addresses. */
  readonly lookup: LookupFunction;
  /** Resolves the host of a URL, to refuse it when it is entered. A connection checks again. */
  check(url: URL): Promise<TargetProblem | null>;
};

/** The system's resolver, as for any connection: it knows `/etc/hosts`. */
const systemResolve: Resolve = (host) =>
  new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });

/**
 * Calls for one host that run at once share one call. The resolver of the system has four threads, which the whole process
 * uses: a name server that does not answer for one host occupies one of them.
 */
function shared(resolve: Resolve): Resolve {
  const running = new Map<string, Promise<readonly LookupAddress[]>>();
  return (host) => {
    const known = running.get(host);
    if (known) return known;
    const call = resolve(host).finally(() => running.delete(host));
    running.set(host, call);
    return call;
  };
}

/** The host of a URL as sockets need it: an IPv6 address without its brackets. */
export const hostOf = (url: Pick<URL, 'hostname'>): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

/** `allowedNetworks` are private networks that may be reached, such as `10.1.0.0/16`. Tests replace `resolve`. */
export function openAddressGuard(options: { allowedNetworks: readonly string[]; resolve?: Resolve }): AddressGuard {
  const isAllowed = networksOf(options.allowedNetworks);
  return guardOf((address) => isPublicAddress(address) || isAllowed(address), options.resolve);
}

/** The guard for partners, which may be in private networks. It refuses the metadata services of clouds only. */
export const openPartnerGuard = (resolve?: Resolve): AddressGuard =>
  guardOf((address) => !isMetadataAddress(address), resolve);

function guardOf(allows: (address: string) => boolean, resolveHost: Resolve = systemResolve): AddressGuard {
  const resolve = shared(resolveHost);
  return {
    allows,
    lookup(host, { all, family }, callback) {
      resolve(host).then(
        (addresses) => {
          const [first] = addresses;
          if (!first || !addresses.every(({ address }) => allows(address)))
            return callback(new RefusedAddressError(), '', 0);
          if (all) return callback(null, [...addresses]);
          const chosen = addresses.find((one) => one.family === family) ?? first;
          callback(null, chosen.address, chosen.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, '', 0),
      );
    },
    async check(url) {
      const host = hostOf(url);
      if (isIP(host) !== 0) return allows(host) ? null : 'private_address';
      const late = delay(checkMs, [], { ref: false });
      const addresses = await Promise.race([resolve(host).catch(() => []), late]);
      if (addresses.length === 0) return 'unknown_host';
      return addresses.every(({ address }) => allows(address)) ? null : 'private_address';
    },
  };
}
