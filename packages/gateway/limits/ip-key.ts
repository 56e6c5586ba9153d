import { isIPv4 } from 'node:net';
import { clientNetwork } from '@tradepost/http';

/**
 * An IPv4 address counts with its /24 neighbours (the last octet dropped), an IPv6 address with those that share its first
 * `ipv6Prefix` bits; 128: for itself. Takes what `clientAddress` answers.
 */
export function ipKey(address: string, ipv6Prefix = 128): string | null {
  if (address === '') return null;
  return isIPv4(address) ? address.slice(0, address.lastIndexOf('.')) : clientNetwork(address, ipv6Prefix);
}
