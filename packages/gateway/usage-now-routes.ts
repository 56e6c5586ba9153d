import { isIP } from 'node:net';
import { clientAddress, defineRoute, type Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import type { ApiToken } from './api-token.ts';
import type { ApiTokens } from './api-tokens.ts';
import { gatewayErrors } from './errors.ts';
import { ipKey } from './ip-key.ts';
import type { KeyKind, KeyRef, KeyUsage, Limits } from './limits.ts';
import { resetView, usageNowQuery, usageNowView } from './schemas.ts';
import { selectUserLimits } from './user-limits-store.ts';

/** As much of the rate gate as these routes need. */
export type UsageGate = {
  limitsOf(token: ApiToken | null, model: string | null): Limits;
  inspect(of: KeyRef): Promise<KeyUsage>;
  reset(only: KeyRef): Promise<number>;
};

const shared = { auth: 'staff', permission: 'system:config', tag: 'Rate limits' } as const;
const path = '/api/admin/ratelimit/usage';
const noToken = { 404: 'There is no such API token' };
/** The first three parts of an IPv4 address: the key of its /24. */
const networkKey = /^\d{1,3}\.\d{1,3}\.\d{1,3}$/;

function idIn(kind: KeyKind, key: string): number {
  const id = /^\d{1,15}$/.test(key) ? Number(key) : 0;
  if (id < 1) throw gatewayErrors.usage_key({ kind });
  return id;
}

/** In the spelling that the addresses of requests are brought into. */
function addressKey(given: string): string {
  if (networkKey.test(given) && isIP(`${given}.0`)) return given;
  const peer = Object.assign(new Request('http://gateway.invalid'), { ip: given });
  const key = isIP(given) ? ipKey(clientAddress(peer)) : null;
  if (key === null) throw gatewayErrors.usage_address();
  return key;
}

const nobody = { id: 0, rpmLimit: null, tpmLimit: null, expiresAt: null } as const;

export function usageNowRoutes(runtime: Pick<Runtime, 'sql'>, tokens: ApiTokens, gate: UsageGate): Route[] {
  /** The log that is meant, and which limits hold of it; 0 is unlimited. */
  async function logOf(
    kind: KeyKind,
    given: string,
  ): Promise<{ of: KeyRef; limits: () => Promise<readonly [rpm: number, tpm: number]> }> {
    switch (kind) {
      case 'ip':
        return {
          of: { kind, key: addressKey(given) },
          limits: async () => [gate.limitsOf(null, null).ip_rpm, 0],
        };
      case 'model':
        return {
          of: { kind, key: given },
          limits: async () => {
            const found = gate.limitsOf(null, given);
            return [found.model_rpm, found.model_tpm];
          },
        };
      case 'user': {
        const userId = idIn(kind, given);
        return {
          of: { kind, key: String(userId) },
          limits: async () => {
            const own = await selectUserLimits(runtime.sql, userId);
            const user = { ...nobody, userId, userRpmLimit: own.rpm_limit, userTpmLimit: own.tpm_limit };
            const found = gate.limitsOf(user, null);
            return [found.user_rpm, found.user_tpm];
          },
        };
      }
      default: {
        const row = await tokens.get(idIn(kind, given));
        return {
          of: { kind, key: String(row.id), user: row.user_id },
          limits: async () => {
            const found = gate.limitsOf(
              {
                ...{ id: row.id, userId: row.user_id, rpmLimit: row.rpm_limit, tpmLimit: row.tpm_limit },
                ...{ userRpmLimit: row.user_rpm_limit, userTpmLimit: row.user_tpm_limit, expiresAt: null },
              },
              null,
            );
            return [found.token_rpm, found.token_tpm];
          },
        };
      }
    }
  }

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path,
      summary: 'What a user, token, address or model has used within the last 60 seconds, and what is left',
      query: usageNowQuery,
      response: usageNowView,
      refusals: noToken,
      statements: 1,
      async handle({ query: { kind, key: given } }) {
        const { of, limits } = await logOf(kind, given);
        const [[rpm, tpm], now] = await Promise.all([limits(), gate.inspect(of)]);
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
      summary: 'Forget what a user, token, address or model has used: the whole limit is free again',
      query: usageNowQuery,
      response: resetView,
      refusals: noToken,
      statements: 1,
      handle: async ({ query: { kind, key } }) => ({ reset: await gate.reset((await logOf(kind, key)).of) }),
    }),
  ];
}
