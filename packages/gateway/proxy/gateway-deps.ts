import type { App } from '@tradepost/http';
import type { Refused, Verdict } from '@tradepost/rate-limiter';
import type { Runtime } from '@tradepost/runtime';
import type { ApiToken, TokenRefusal } from '../tokens/api-token.ts';
import type { Upstreams } from '../upstreams/upstreams.ts';
import type { UsageLog } from '../usage/usage-log.ts';

/** Of the rate gate, what the proxy asks. */
type ProxyGate = {
  admit(of: {
    token: ApiToken | null;
    address: string;
    model: string | null;
    tokens: number;
  }): Verdict | Promise<Verdict>;
  peek(of: { token: ApiToken | null; address: string; model: string | null }): Refused | null;
};
/** Of the API tokens. */
type ProxyTokens = {
  verify(secret: string, mayLookUp?: () => boolean): ApiToken | TokenRefusal | Promise<ApiToken | TokenRefusal>;
};

export type GatewayDeps = {
  readonly runtime: Pick<Runtime, 'config' | 'isDatabaseAway' | 'log' | 'metrics' | 'settings'>;
  readonly gate: ProxyGate;
  readonly tokens: ProxyTokens;
  readonly upstreams: Upstreams;
  readonly usage: UsageLog;
  /** Answers everything outside /v1/. */
  readonly app: App['fetch'];
};

/** Who asks for what. */
export type Asker = {
  token: ApiToken | null;
  readonly address: string;
  /** One of ours, for metrics and usage. */
  readonly endpoint: string;
  readonly id: string;
  /** `performance.now()` */
  readonly started: number;
};
