import { isIPv4 } from 'node:net';

/** An IPv4 address counts with its /24 neighbours (the last octet dropped), an IPv6 address for itself. Takes what `clientAddress` answers. */
export function ipKey(address: string): string | null {
  if (address === '') return null;
  return isIPv4(address) ? address.slice(0, address.lastIndexOf('.')) : address;
}
