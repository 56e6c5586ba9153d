import { shopperNamed } from '@tradepost/identity';
import { type KeyKind, type KeyRef, keyKinds } from '@tradepost/rate-limiter';
import type { Runtime } from '@tradepost/runtime';
import { InvalidArgumentError } from 'commander';
import { modelKey } from '../messages/model-key.ts';
import { rateLimitSettings } from '../settings.ts';
import { addressKey, limitsOfKey, type NamedKey, refOf } from '../tokens/key-limits.ts';
import { tokenNamed } from './tokens.ts';

export const keySpelling =
  'user:<phone|username|id>, token:<id|prefix>, ip:<address> (IPv4 also as its /24, ip:203.0.113) or model:<name>';

export type GivenKey = { readonly kind: KeyKind; readonly key: string };

/** Parses a key such as `user:42`. The beginning of a secret needs no `token:`. */
export function givenKey(text: string): GivenKey {
  const [, kind, key = ''] = /^(\w+):(.+)$/s.exec(text.startsWith('tp-') ? `token:${text}` : text) ?? [];
  const known = keyKinds.find((each) => each === kind);
  if (!known || key.length > 256) throw new InvalidArgumentError(`It must be ${keySpelling}.`);
  if (known === 'model') {
    const model = modelKey(key);
    if (model === null) throw new InvalidArgumentError(`${key} is not the name of a model.`);
    return { kind: known, key: model };
  }
  // The prefix of the setting is applied when the key is resolved.
  if (known === 'ip' && addressKey(key, 128) === null) throw new InvalidArgumentError(`${key} is not an IP address.`);
  return { kind: known, key };
}

/** The log of a key and its limits in force; 0 is unlimited. */
export type ResolvedKey = { readonly of: KeyRef; readonly name: string; readonly rpm: number; readonly tpm: number };

async function named(runtime: Runtime, { kind, key }: GivenKey): Promise<NamedKey> {
  if (kind === 'token') return { kind, row: await tokenNamed(runtime, key) };
  if (kind === 'user') return { kind, key: String(await shopperNamed(runtime, key)) };
  if (kind === 'model') return { kind, key };
  return { kind, key: addressKey(key, runtime.settings.get(rateLimitSettings.ipv6_prefix))! };
}

export async function resolveKey(runtime: Runtime, given: GivenKey): Promise<ResolvedKey> {
  const key = await named(runtime, given);
  const of = refOf(key);
  return { of, name: `${of.kind}:${of.key}`, ...(await limitsOfKey(runtime, key)) };
}
