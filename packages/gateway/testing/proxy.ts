import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve, type Transport } from '@tradepost/http';
import type { Admitted, Refused, Verdict } from '@tradepost/rate-limiter';
import { type ConfigKey, loadConfig, openLog, openRuntime, type Runtime } from '@tradepost/runtime';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import OpenAI from 'openai';
import { gatewayFault } from '../messages/openai-errors.ts';
import { gatewayFetch } from '../proxy/gateway-fetch.ts';
import { gatewaySettings } from '../settings.ts';
import type { ApiToken, TokenRefusal } from '../tokens/api-token.ts';
import { openUpstreams, type Upstreams } from '../upstreams/upstreams.ts';
import { openUsageLog } from '../usage/usage-log.ts';

export const goodKey = 'tp-good';
const tightestTokens = { dimension: 'user_tpm', limit: 100_000, remaining: 99_000, resetMs: 30_000 } as const;
export const admitted: Admitted = {
  admitted: true,
  tightest: tightestTokens,
  tightestRequests: { dimension: 'user_rpm', limit: 60, remaining: 59, resetMs: 60_000 },
  tightestTokens,
  at: 0,
};
export const refused = (waitMs: number | null): Refused => ({
  admitted: false,
  dimension: 'user_rpm',
  limit: 60,
  waitMs,
  denied: ['user_rpm'],
  at: 0,
});

type Admission = { token: ApiToken | null; address: string; model: string | null; tokens: number };

export type OpenedProxy = {
  url: string;
  runtime: Runtime;
  upstreams: Upstreams;
  database: TestDatabase;
  /** All requests to the gate. */
  asked: Admission[];
  /** The next verdicts of the gate. After them it admits again. */
  refuseNext(...verdicts: (Verdict | Promise<Verdict>)[]): void;
  /** The result of `peek` from now on. */
  peekSays(verdict: Refused | null): void;
  /** Keys that caused a query. */
  queriedKeys: string[];
  /** The official client of OpenAI. */
  client(options?: { maxRetries?: number; apiKey?: string }): OpenAI;
  /** The rows of usage, the oldest first, after all have ended. */
  // biome-ignore lint/suspicious/noExplicitAny: columns of the table
  rows(): Promise<any[]>;
  set(values: Readonly<Record<string, unknown>>): Promise<void>;
  /** `inspect` reads the database before it is dropped. */
  close(inspect?: (database: TestDatabase) => Promise<void>): Promise<void>;
};

const token: ApiToken = {
  id: 7,
  userId: 3,
  rpmLimit: null,
  tpmLimit: null,
  userRpmLimit: null,
  userTpmLimit: null,
  expiresAt: null,
};
const keys: Readonly<Record<string, ApiToken | TokenRefusal>> = {
  [goodKey]: token,
  'tp-revoked': 'revoked',
  'tp-expired': 'expired',
  'tp-disabled': 'disabled',
};

/** Opens the proxy on a socket and a database of its own, with a gate and tokens that the test controls. */
export async function openProxy(
  settings: Readonly<Record<string, unknown>>,
  {
    transport = 'auto',
    maxBodyBytes = 1024 * 1024,
    flags = {},
    version,
  }: {
    transport?: 'auto' | 'node';
    maxBodyBytes?: number;
    flags?: Partial<Record<ConfigKey, unknown>>;
    /** With a version, spans are exported as the flags say. */
    version?: string;
  } = {},
): Promise<OpenedProxy> {
  const database = await cloneDatabase();
  const data = await mkdtemp(join(tmpdir(), 'tradepost-proxy-'));
  const { config } = loadConfig({
    env: {},
    flags: { databaseUrl: database.url, data, port: 0, seed: 'none', databasePool: 4, ...flags },
  });
  const log = openLog({ level: process.env.TEST_LOG ?? 'silent' });
  const runtime = await openRuntime({
    ...{ config, definitions: gatewaySettings, log },
    ...(version === undefined ? {} : { version }),
  });
  await runtime.settings.setMany(settings);
  const upstreams = openUpstreams(runtime);
  const usage = openUsageLog(runtime);
  const asked: Admission[] = [];
  const queriedKeys: string[] = [];
  let verdicts: (Verdict | Promise<Verdict>)[] = [];
  let peeked: Refused | null = null;
  const gate = {
    admit(of: Admission) {
      asked.push(of);
      return verdicts.shift() ?? admitted;
    },
    peek: () => peeked,
  };
  const app = () => Response.json({ code: 404 }, { status: 404 });
  const fetch = gatewayFetch({
    runtime,
    gate,
    tokens: {
      // The test's own keys are cached, all others are queried.
      verify(key, mayQuery) {
        if (Object.hasOwn(keys, key)) return keys[key]!;
        if (mayQuery && !mayQuery()) return 'unknown';
        queriedKeys.push(key);
        return Promise.resolve('unknown' as const);
      },
    },
    upstreams,
    usage,
    app,
  });
  const served: Transport = await serve(
    { fetch },
    { host: '127.0.0.1', port: 0, transport, maxBodyBytes },
    log,
    gatewayFault,
  );
  const url = served.url;
  return {
    ...{ url, runtime, upstreams, database, asked, queriedKeys },
    refuseNext(...given) {
      verdicts = given;
    },
    peekSays(verdict) {
      peeked = verdict;
    },
    client: ({ maxRetries = 0, apiKey = goodKey } = {}) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries }),
    async rows() {
      for (let tries = 0; ; tries += 1) {
        const rows = await database.sql`select * from gateway.usage order by started_at, id`;
        if (tries > 100 || rows.every((row) => row.state !== 'open')) return rows.map((row) => ({ ...row }));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    set: (values) => runtime.settings.setMany(values),
    async close(inspect) {
      await served.close(300);
      await usage.close();
      await upstreams.close();
      await runtime.close(1_000);
      await inspect?.(database);
      await database.drop();
      await rm(data, { recursive: true, force: true });
    },
  };
}
