import { defineRoute, type Route } from '@tradepost/http';
import type { KeyKind, KeyRef, KeyUsage } from '@tradepost/rate-limiter';
import type { Runtime } from '@tradepost/runtime';
import { gatewayErrors } from '../errors.ts';
import { modelKey } from '../messages/model-key.ts';
import { currentUsageQuery, currentUsageView, resetView } from '../schemas.ts';
import { rateLimitSettings } from '../settings.ts';
import type { ApiTokens } from '../tokens/api-tokens.ts';
import { addressKey, limitsOfKey, type NamedKey, refOf } from '../tokens/key-limits.ts';

/** The part of the rate gate that these routes need. */
export type UsageGate = {
  inspect(of: KeyRef): Promise<KeyUsage>;
  reset(only: KeyRef): Promise<number>;
};

const shared = { auth: 'staff', permission: 'system:config', tag: 'Rate limits' } as const;
const path = '/api/admin/ratelimit/usage';
const refuses = [
  gatewayErrors.token_not_found,
  gatewayErrors.usage_key,
  gatewayErrors.usage_address,
  gatewayErrors.usage_model,
  gatewayErrors.no_gateway,
  gatewayErrors.store_down,
];

function idIn(kind: KeyKind, key: string): number {
  const id = /^\d{1,15}$/.test(key) ? Number(key) : 0;
  if (id < 1) throw gatewayErrors.usage_key({ kind });
  return id;
}

export function currentUsageRoutes(
  runtime: Pick<Runtime, 'sql' | 'settings' | 'log'>,
  tokens: ApiTokens,
  gate: UsageGate,
): Route[] {
  async function keyNamed(kind: KeyKind, given: string): Promise<NamedKey> {
    if (kind === 'token') return { kind, row: await tokens.get(idIn(kind, given)) };
    if (kind === 'user') return { kind, key: String(idIn(kind, given)) };
    const prefix = runtime.settings.get(rateLimitSettings.ipv6_prefix);
    const key = kind === 'model' ? modelKey(given) : addressKey(given, prefix);
    if (key === null) throw kind === 'model' ? gatewayErrors.usage_model() : gatewayErrors.usage_address();
    return { kind, key };
  }

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path,
      summary: 'Usage of a user, token, address or model within the last 60 seconds, and the rest of its limits',
      query: currentUsageQuery,
      response: currentUsageView,
      refuses,
      // One statement reads the key. Without Redis, one more sends the question to the gateway processes and one the
      // answer.
      statements: 3,
      async handle({ query: { kind, key: given } }) {
        const named = await keyNamed(kind, given);
        const of = refOf(named);
        const [{ rpm, tpm }, now] = await Promise.all([limitsOfKey(runtime, named), gate.inspect(of)]);
        const left = (limit: number, count: number) => (limit === 0 ? null : Math.max(0, limit - count));
        return {
          ...{ kind, key: of.key, requests: now.requests, tokens: now.tokens },
          limits: { rpm: rpm || null, tpm: tpm || null },
          remaining: { rpm: left(rpm, now.requests), tpm: left(tpm, now.tokens) },
          oldest_leaves_ms: now.oldestLeavesMs === null ? null : Math.ceil(now.oldestLeavesMs),
        };
      },
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path,
      summary: 'Reset the usage of a user, token, address or model: the whole limit is available again',
      query: currentUsageQuery,
      response: resetView,
      notLogged: 'The counts of the limiter are no rows. The log of the process names who resets them.',
      repeat: 'natural',
      refuses,
      statements: 3,
      async handle({ query: { kind, key }, caller }) {
        const of = refOf(await keyNamed(kind, key));
        const reset = await gate.reset(of);
        runtime.log.info(
          { kind: of.kind, key: of.key, reset, by: `admin:${caller.id}` },
          'a log of the rate limiter was reset',
        );
        return { reset };
      },
    }),
  ];
}
