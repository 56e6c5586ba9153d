import type { App } from '@tradepost/http';
import type { Refused, Verdict } from '@tradepost/rate-limiter';
import type { Runtime } from '@tradepost/runtime';
import type { Endpoint } from '../messages/chat-request.ts';
import type { ProxyError } from '../messages/openai-errors.ts';
import type { ApiToken, TokenRefusal } from '../tokens/api-token.ts';
import type { Upstreams } from '../upstreams/upstreams.ts';
import type { UsageLog } from '../usage/usage-log.ts';
import type { HeaderList, RefusedCost } from './rate-answer.ts';

/** The part of the rate gate that the proxy needs. */
type ProxyGate = {
  admit(request: {
    token: ApiToken | null;
    address: string;
    model: string | null;
    tokens: number;
  }): Verdict | Promise<Verdict>;
  peek(request: { token: ApiToken | null; address: string; model: string | null }): Refused | null;
};
/** The part of the API tokens that the proxy needs. */
type ProxyTokens = {
  verify(secret: string, mayQuery?: () => boolean): ApiToken | TokenRefusal | Promise<ApiToken | TokenRefusal>;
};

export type GatewayDeps = {
  readonly runtime: Pick<Runtime, 'config' | 'isDatabaseAway' | 'log' | 'metrics' | 'settings'>;
  readonly gate: ProxyGate;
  readonly tokens: ProxyTokens;
  readonly upstreams: Upstreams;
  readonly usage: UsageLog;
  /** Answers requests outside /v1/. */
  readonly app: App['fetch'];
};

/** The sender of a request, and its endpoint. */
export type Caller = {
  token: ApiToken | null;
  readonly address: string;
  /** The endpoint for metrics and usage. Unknown paths have a common name. */
  readonly endpoint: string;
  readonly id: string;
  /** `performance.now()` */
  readonly started: number;
};

/** A caller with a valid token. */
export type ProxyCaller = Caller & {
  readonly token: ApiToken;
  readonly endpoint: Endpoint;
  /** The gateways that this request has passed, with this one. Value of the header for upstreams. */
  readonly passedGateways: string;
};

/** The result of a POST to the proxy. */
export type CallResult =
  | Response
  | { readonly refused: Refused; readonly cost: RefusedCost }
  /** `isCharged`: the request is charged without tokens. `cause`: the error to log. */
  | { readonly error: ProxyError; readonly isCharged?: true; readonly cause?: unknown; readonly headers?: HeaderList };
