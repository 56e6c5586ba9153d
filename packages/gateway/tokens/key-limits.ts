import { isIP } from 'node:net';
import { clientAddress } from '@tradepost/http';
import type { KeyRef } from '@tradepost/rate-limiter';
import type { Runtime } from '@tradepost/runtime';
import { ipKey } from '../limits/ip-key.ts';
import { selectUserLimits } from '../limits/user-limits-store.ts';
import { limitsOf, userLimitsOf } from '../proxy/rate-gate.ts';
import { apiTokenOf, type TokenRow } from './api-token-store.ts';

/** The first three parts of an IPv4 address: the key of its /24. */
const networkKey = /^\d{1,3}\.\d{1,3}\.\d{1,3}$/;

/**
 * The limiter key of an address, normalized as for the addresses of requests; null for another text. An IPv6 network
 * (`2001:db8::/64`) counts as its first address. `ipv6Prefix`: the setting `ratelimit.ipv6_prefix`.
 */
export function addressKey(given: string, ipv6Prefix: number): string | null {
  if (networkKey.test(given) && isIP(`${given}.0`)) return given;
  const address = given.replace(/(?<=:.*)\/\d{1,3}$/, '');
  if (!isIP(address)) return null;
  const plain = clientAddress(Object.assign(new Request('http://gateway.invalid'), { ip: address }));
  return ipKey(plain, ipv6Prefix);
}

/** A key that an administrator inspects or resets; a token with its row. */
export type NamedKey = Exclude<KeyRef, { kind: 'token' }> | { readonly kind: 'token'; readonly row: TokenRow };

export const refOf = (key: NamedKey): KeyRef =>
  key.kind === 'token' ? { kind: 'token', key: String(key.row.id), user: key.row.user_id } : key;

/** The limits in force of one log; 0 is unlimited. */
export async function limitsOfKey(
  { settings, sql }: Pick<Runtime, 'settings' | 'sql'>,
  key: NamedKey,
): Promise<{ readonly rpm: number; readonly tpm: number }> {
  switch (key.kind) {
    case 'ip':
      return { rpm: limitsOf(settings, null, null).ip_rpm, tpm: 0 };
    case 'model': {
      const { model_rpm: rpm, model_tpm: tpm } = limitsOf(settings, null, key.key);
      return { rpm, tpm };
    }
    case 'user': {
      const userId = Number(key.key);
      const { user_rpm: rpm, user_tpm: tpm } = userLimitsOf(settings, await selectUserLimits(sql, userId));
      return { rpm, tpm };
    }
    default: {
      const { token_rpm: rpm, token_tpm: tpm } = limitsOf(settings, apiTokenOf(key.row), null);
      return { rpm, tpm };
    }
  }
}
