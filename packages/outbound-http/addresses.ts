import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Public addresses with a special meaning, which the ranges do not have. 168.63.129.16 is the metadata and health service of
 * every virtual machine at Azure.
 */
const special = ['168.63.129.16'];
/** All public IPv6 addresses. The rest is reserved, or has an IPv4 address inside (IPv4-mapped, NAT64). */
const publicIpv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an address is a public one. False for a text that is not an address. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  // `unicast` is the rest: not private, loopback, link-local, shared by a provider (CGNAT), multicast, or reserved.
  if (address.range() !== 'unicast' || special.includes(text)) return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(publicIpv6);
}

/** The services of clouds that give the credentials of a machine to everyone on it: Azure, Alibaba, Oracle, AWS and Google. */
const metadataServices = ['168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254'];

/** Whether an address is that of a metadata service, or link-local (169.254.169.254), where most clouds have theirs. */
export function isMetadataAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  // An IPv4-mapped address is read as IPv4.
  const address = ipaddr.process(text);
  return address.range() === 'linkLocal' || metadataServices.includes(address.toString());
}

/** A test for addresses in these networks, such as `10.0.0.0/8` or `10.1.2.3`. Throws for other texts. */
export function networksOf(networks: readonly string[]): (text: string) => boolean {
  const ranges = networks.map((text): [Address, number] => {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  });
  return (text) => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.parse(text);
    return ranges.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
  };
}
