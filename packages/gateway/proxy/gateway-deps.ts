import type { App } from '@tradepost/http';
import type { Refused, Verdict } from '@tradepost/rate-limiter';
import type { Runtime } from '@tradepost/runtime';
import type { Endpoint } from '../messages/chat-request.ts';
import type { ProxyError } from '../messages/openai-errors.ts';
import type { ApiToken, TokenRefusal } from '../tokens/api-token.ts';
import type { Upstreams } from '../upstreams/upstreams.ts';
import type { UsageLog } from '../usage/usage-log.ts';
import type { HeaderList } from './rate-answer.ts';

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
  verify(secret: string, mayQuery?: () => boolean): ApiToken | TokenRefusal | Promise<ApiToken | TokenRefusal>;
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

/** A caller whose token is good. */
export type ProxyAsker = Asker & {
  readonly token: ApiToken;
  readonly endpoint: Endpoint;
  /** The gateways on the way of this request, as upstreams are told. */
  readonly passed: string;
};

/** What a POST of the proxy comes to. */
export type CallResult =
  | Response
  /** `tokens`: null where they were counted only until they were too many. */
  | { readonly refused: Refused; readonly tokens: number | null }
  /** `counts`: it is charged as a request without tokens. `cause`: what to log. */
  | { readonly error: ProxyError; readonly counts?: true; readonly cause?: unknown; readonly headers?: HeaderList };
