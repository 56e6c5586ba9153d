import { isIP } from 'node:net';
import {
  ipKey,
  type KeyKind,
  type KeyRef,
  keyKinds,
  limitsOf,
  selectUserLimits,
  type TokenRow,
  tokensNamed,
} from '@tradepost/gateway';
import { clientAddress } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { InvalidArgumentError } from 'commander';
import { shopperNamed } from './gateway-limits.ts';

export const keySpelling =
  'user:<id|username>, token:<id|prefix>, ip:<address> (IPv4 also as its /24, ip:203.0.113) or model:<name>';

export type GivenKey = { readonly kind: KeyKind; readonly key: string };

/** The first three parts of an IPv4 address: the key of its /24. */
const networkKey = /^\d{1,3}\.\d{1,3}\.\d{1,3}$/;

/** In the spelling that the addresses of requests are brought into; null when it is no address. */
function addressKey(given: string): string | null {
  if (networkKey.test(given) && isIP(`${given}.0`)) return given;
  if (!isIP(given)) return null;
  return ipKey(clientAddress(Object.assign(new Request('http://gateway.invalid'), { ip: given })));
}

/** Reads `user:42`; the beginning of a secret needs no `token:`. */
export function givenKey(text: string): GivenKey {
  const [, kind, key = ''] = /^(\w+):(.+)$/s.exec(text.startsWith('tp-') ? `token:${text}` : text) ?? [];
  const known = keyKinds.find((each) => each === kind);
  if (!known || key.length > 256) throw new InvalidArgumentError(`It must be ${keySpelling}.`);
  if (known !== 'ip') return { kind: known, key };
  const address = addressKey(key);
  if (address === null) throw new InvalidArgumentError(`${key} is no IP address.`);
  return { kind: known, key: address };
}

/** The log that is meant, and the limits in force of it; 0 is unlimited. */
export type ResolvedKey = { readonly of: KeyRef; readonly name: string; readonly rpm: number; readonly tpm: number };

const nobody = { id: 0, rpmLimit: null, tpmLimit: null, expiresAt: null } as const;

const ofToken = (row: TokenRow) => ({
  ...{ id: row.id, userId: row.user_id, rpmLimit: row.rpm_limit, tpmLimit: row.tpm_limit, expiresAt: null },
  ...{ userRpmLimit: row.user_rpm_limit, userTpmLimit: row.user_tpm_limit },
});

/** The one that an id, the beginning of a secret or a whole secret names. */
async function tokenOf({ sql }: Pick<Runtime, 'sql'>, given: string): Promise<TokenRow> {
  const found = await tokensNamed(sql, given);
  // A secret that was given whole is not repeated in a message.
  const shown = given.slice(0, 11);
  if (found.length === 0) throw new Error(`there is no API token ${shown}: tradepost gateway token list`);
  if (found.length > 1)
    throw new Error(`several API tokens begin with ${shown}: ${found.map(({ id }) => `token:${id}`).join(', ')}`);
  return found[0]!;
}

export async function resolveKey(runtime: Runtime, { kind, key }: GivenKey): Promise<ResolvedKey> {
  const { settings, sql } = runtime;
  if (kind === 'ip') {
    const { ip_rpm: rpm } = limitsOf(settings, null, null);
    return { of: { kind, key }, name: `ip:${key}`, rpm, tpm: 0 };
  }
  if (kind === 'model') {
    const { model_rpm: rpm, model_tpm: tpm } = limitsOf(settings, null, key);
    return { of: { kind, key }, name: `model:${key}`, rpm, tpm };
  }
  if (kind === 'user') {
    const userId = await shopperNamed(runtime, key);
    const own = await selectUserLimits(sql, userId);
    const user = { ...nobody, userId, userRpmLimit: own.rpm_limit, userTpmLimit: own.tpm_limit };
    const { user_rpm: rpm, user_tpm: tpm } = limitsOf(settings, user, null);
    return { of: { kind, key: String(userId) }, name: `user:${userId}`, rpm, tpm };
  }
  const row = await tokenOf(runtime, key);
  const { token_rpm: rpm, token_tpm: tpm } = limitsOf(settings, ofToken(row), null);
  return { of: { kind, key: String(row.id), user: row.user_id }, name: `token:${row.id}`, rpm, tpm };
}
