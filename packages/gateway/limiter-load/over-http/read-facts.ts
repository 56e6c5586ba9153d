import pLimit from 'p-limit';
import { z } from 'zod';
import { type GatewayClient, parseJson } from './gateway-client.ts';
import type { GatewayFacts, TokenFacts } from './known-limits.ts';

/** Characters of a secret that the gateway stores: `tp-` and eight more. */
const prefixLength = 11;
export const prefixOf = (secret: string): string => secret.slice(0, prefixLength);
const concurrentReads = 8;

const envelope = z.object({ code: z.number(), message: z.string().optional(), data: z.unknown() });
const tokenPage = z.object({
  list: z.array(
    z.object({
      prefix: z.string(),
      user_id: z.number(),
      effective: z.object({
        user_rpm: z.number(),
        user_tpm: z.number(),
        token_rpm: z.number(),
        token_tpm: z.number(),
      }),
    }),
  ),
});
const keyUsage = z.object({ limits: z.object({ rpm: z.number().nullable(), tpm: z.number().nullable() }) });

/** Reads an administration route. Throws an error that names the route and the reason. */
async function readAdmin<T>(client: GatewayClient, path: string, token: string, schema: z.ZodType<T>): Promise<T> {
  const { status, body } = await client.request('GET', path, { token });
  const answer = envelope.safeParse(parseJson(body)).data;
  const route = path.split('?')[0];
  if (status !== 200 || answer?.code !== 0)
    throw new Error(`the limits of the gateway cannot be read: ${answer?.message ?? `status ${status}`} (${route})`);
  const data = schema.safeParse(answer.data);
  if (!data.success) throw new Error(`the limits of the gateway cannot be read: unexpected answer (${route})`);
  return data.data;
}

/** Reads the limits in force of these API tokens, of an address, and of a model. */
export async function readFacts(
  client: GatewayClient,
  adminToken: string,
  tokens: readonly string[],
  model: string | null,
): Promise<GatewayFacts> {
  const readToken = async (secret: string): Promise<TokenFacts | undefined> => {
    const prefix = prefixOf(secret);
    const query = new URLSearchParams({ keyword: prefix, size: '100' });
    const { list } = await readAdmin(client, `/api/admin/api-tokens?${query}`, adminToken, tokenPage);
    const [row, ...others] = list.filter((each) => each.prefix === prefix);
    // Only prefixes are stored, so secrets with the same prefix are not distinguishable.
    return row && others.length === 0 ? { userId: row.user_id, limits: row.effective } : undefined;
  };
  const readLimits = async (kind: 'ip' | 'model', key: string) => {
    const query = new URLSearchParams({ kind, key });
    const { limits } = await readAdmin(client, `/api/admin/ratelimit/usage?${query}`, adminToken, keyUsage);
    return { rpm: limits.rpm ?? 0, tpm: limits.tpm ?? 0 };
  };
  const found = await pLimit(concurrentReads).map(tokens, readToken);
  // All addresses have the same limit, so any address will do.
  const ip = await readLimits('ip', '127.0.0.1');
  return { tokens: found, ip_rpm: ip.rpm, model: model === null ? null : await readLimits('model', model) };
}

const storeLine = /^gateway_ratelimit_store_total\{[^}]*result="(timeout|error|open)"[^}]*\} (\S+)$/gm;

/** How many checks the gateway has let through without its store since its start; null when /metrics does not say. */
export async function readUnchecked(client: GatewayClient): Promise<number | null> {
  try {
    const { status, body } = await client.request('GET', '/metrics');
    if (status !== 200 || !body.includes('gateway_ratelimit_store_total')) return null;
    return [...body.matchAll(storeLine)].reduce((sum, [, , count]) => sum + Number(count), 0);
  } catch {
    return null;
  }
}
