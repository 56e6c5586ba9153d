import type { Localized } from '@tradepost/core';
import { type AddressGuard, openAddressGuard, parseTarget } from '@tradepost/outbound-http';
import type { Config } from '@tradepost/runtime';
import type { ConfigField } from './config-pages.ts';

/** Outside of production a service may run on this machine, as the simulators do. */
const thisMachine = ['127.0.0.0/8', '::1'];

export type EntryGuard = Pick<AddressGuard, 'check'>;

/** The check of addresses that staff enter. */
export const openEntryGuard = ({
  production,
  allowedPrivateNetworks,
}: Pick<Config, 'production' | 'allowedPrivateNetworks'>): EntryGuard =>
  openAddressGuard({ allowedNetworks: [...allowedPrivateNetworks, ...(production ? [] : thisMachine)] });

const privateAddress: Localized = {
  en: 'the host has a private address. ALLOWED_PRIVATE_NETWORKS of the server allows private networks',
  'zh-CN': '该主机为内网地址。服务器的 ALLOWED_PRIVATE_NETWORKS 可放行内网网段',
};

/**
 * Why staff cannot enter this value, or null. An operator can set it: staff with the permission for settings must not reach the
 * disks and the private networks of the server.
 */
export async function staffFault({ field }: ConfigField, value: unknown, guard: EntryGuard): Promise<Localized | null> {
  if (typeof value !== 'string' || value === '') return null;
  const { staffRule, serviceAddress } = field;
  if (staffRule && !staffRule.allows(value)) return staffRule.text;
  if (!serviceAddress) return null;
  // Where the scheme may be missing, https is meant. The schema has refused what is no address.
  const target = parseTarget(value.includes('://') ? value : `https://${value}`);
  if (typeof target === 'string' || serviceAddress.trusted?.test(target.hostname)) return null;
  return (await guard.check(target)) === 'private_address' ? privateAddress : null;
}
