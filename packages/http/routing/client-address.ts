import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net';

type WithIp = { ip?: string | undefined };

/**
 * One spelling per address: IPv6 in its short form, and IPv4 in IPv6 (`::ffff:`) as IPv4. Empty for a text that is not
 * an address.
 */
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

/** True when an address (in the spelling of `plain`) is in one of the networks. */
type Networks = (address: string) => boolean;
/** Cached by the identity of the configured array, which is frozen: built once per process. */
const known = new WeakMap<readonly string[], Networks>();

/**
 * A network of IPv6 contains no IPv4 address, unless it is a network of IPv4 in the notation of IPv6
 * (`::ffff:10.0.0.0/104`).
 */
function networksOf(entries: readonly string[]): Networks {
  let networks = known.get(entries);
  if (networks) return networks;
  const [v4, v6] = [new BlockList(), new BlockList()];
  for (const entry of entries) {
    const [written = '', given] = entry.split('/');
    const address = plain(written);
    const bits = given === undefined ? 128 : Number(given);
    if (isIPv6(address)) v6.addSubnet(address, bits, 'ipv6');
    else if (!isIPv6(written)) v4.addSubnet(address, Math.min(bits, 32), 'ipv4');
    else if (bits >= 96) v4.addSubnet(address, bits - 96, 'ipv4');
    else v6.addSubnet(written, bits, 'ipv6');
  }
  networks = (address) => (isIPv6(address) ? v6.check(address, 'ipv6') : v4.check(address, 'ipv4'));
  known.set(entries, networks);
  return networks;
}

/**
 * The address of the client. It is empty when the connection is gone. Every proxy adds to the end of X-Forwarded-For,
 * so the header is read from its end: the last address that is not a trusted proxy is the client's. X-Real-IP counts
 * when X-Forwarded-For is absent. Both headers are ignored unless the peer is a trusted proxy, because any client can
 * write them.
 */
export function clientAddress(request: Request, trustedProxies: readonly string[] = []): string {
  const peer = plain((request as WithIp).ip);
  if (trustedProxies.length === 0 || !peer) return peer;
  const isProxy = networksOf(trustedProxies);
  if (!isProxy(peer)) return peer;
  const forwarded = request.headers.get('x-forwarded-for');
  if (!forwarded) return plain(request.headers.get('x-real-ip') ?? '') || peer;
  let client = peer;
  for (const part of forwarded.slice(-2_000).split(',').reverse()) {
    const address = plain(part);
    if (!address) break;
    client = address;
    if (!isProxy(address)) break;
  }
  return client;
}

/** The eight groups of an IPv6 address. An IPv4 address at its end makes the last two groups. */
function groupsOf(address: string): number[] {
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [a * 256 + Number(b), c * 256 + Number(d)].map((group) => group.toString(16)).join(':'),
  );
  const [head = [], tail = []] = hex.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}

/**
 * The network of an IPv6 address (`2001:db8:1:2::/64`). Returns IPv4 addresses unchanged, and with 128 bits all
 * addresses. The default is 64 bits, because a customer of a network provider can change the other bits at will.
 */
export function clientNetwork(address: string, bits = 64): string {
  if (bits >= 128 || !isIPv6(address)) return address;
  const groups = groupsOf(address).slice(0, Math.ceil(bits / 16));
  const rest = bits % 16;
  if (rest > 0) groups[groups.length - 1]! &= 0xffff << (16 - rest);
  return `${groups.map((group) => group.toString(16)).join(':')}${groups.length < 8 ? '::' : ''}/${bits}`;
}
