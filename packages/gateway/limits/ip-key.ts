import { isIPv4 } from 'node:net';
import { clientNetwork } from '@tradepost/http';

/**
 * The limiter key of an address from `clientAddress`. IPv4 addresses of one /24 share a key (the last octet is dropped), and
 * so do IPv6 addresses with the same first `ipv6Prefix` bits. null for an unknown address.
 */
export function ipKey(address: string, ipv6Prefix = 128): string | null {
  if (address === '') return null;
  return isIPv4(address) ? address.slice(0, address.lastIndexOf('.')) : clientNetwork(address, ipv6Prefix);
}
