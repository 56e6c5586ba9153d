import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net';

type WithIp = { ip?: string | undefined };

/** One spelling per address: IPv6 shortened, IPv4 inside IPv6 as IPv4. Empty when it is no address. */
function plain(text: string | undefined): string {
  const bare = text?.trim().replace(/^\[(.*)\](?::\d+)?$/, '$1') ?? '';
  if (isIPv6(bare)) {
    const { address } = new SocketAddress({ address: bare.replace(/%.*$/, ''), family: 'ipv6' });
    const inside = address.replace(/^::ffff:/, '');
    return isIP(inside) === 4 ? inside : address;
  }
  if (isIP(bare) === 4) return bare;
  const withoutPort = bare.replace(/:\d+$/, '');
  return isIP(withoutPort) === 4 ? withoutPort : '';
}

/** By identity of the (frozen) configuration array: built once per process. */
const lists = new WeakMap<readonly string[], BlockList>();

function listOf(proxies: readonly string[]): BlockList {
  let list = lists.get(proxies);
  if (list) return list;
  list = new BlockList();
  for (const entry of proxies) {
    const [address = '', bits] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  lists.set(proxies, list);
  return list;
}

const trusts = (list: BlockList, address: string) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

/**
 * The address a request comes from; empty when the connection is gone. X-Forwarded-For is read from its end, as every
 * proxy adds to it: the last address that is no trusted proxy is the client's. X-Real-IP counts where it is absent.
 * From anybody else both headers are only what somebody wrote.
 */
export function clientAddress(request: Request, trustedProxies: readonly string[] = []): string {
  const peer = plain((request as WithIp).ip);
  if (trustedProxies.length === 0 || !peer) return peer;
  const list = listOf(trustedProxies);
  if (!trusts(list, peer)) return peer;
  const forwarded = request.headers.get('x-forwarded-for');
  if (!forwarded) return plain(request.headers.get('x-real-ip') ?? '') || peer;
  let client = peer;
  for (const part of forwarded.slice(-2_000).split(',').reverse()) {
    const address = plain(part);
    if (!address) break;
    client = address;
    if (!trusts(list, address)) break;
  }
  return client;
}

/** What one customer of a network provider can change at will counts as one: an IPv6 address by its /64. */
export function clientNetwork(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? [] : Array(Math.max(0, 8 - groups.length - rest.length)).fill('0');
  return `${[...groups, ...zeros, ...rest].slice(0, 4).join(':')}::/64`;
}
