/** A refusal of /v1/*, in the form that OpenAI's clients read. The text is for developers and always English. */
export type ProxyError = {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
  readonly param?: string | null;
};

const invalid =
  (status: number, code: string | null) =>
  (message: string, param: string | null = null): ProxyError => ({
    status,
    type: 'invalid_request_error',
    code,
    message,
    param,
  });
const fixed = (status: number, type: string, code: string | null, message: string) => (): ProxyError => ({
  status,
  type,
  code,
  message,
});
const badRequest = invalid(400, null);
const key = (message: string) => fixed(401, 'invalid_request_error', 'invalid_api_key', message);

const tooManyBodies = 'Too many large bodies at once, please try again';

export const proxyErrors = {
  missing_key: key('You did not provide an API key: send it as Authorization: Bearer YOUR_KEY'),
  unknown_key: key('Incorrect API key provided'),
  revoked_key: key('This API key was revoked'),
  expired_key: key('This API key has expired'),
  disabled_account: key('The account of this API key is disabled'),
  unknown_path: (method: string, path: string) => invalid(404, 'unknown_url')(`Unknown request URL: ${method} ${path}`),
  wrong_method: (allowed: string) => invalid(405, 'method_not_allowed')(`Method not allowed, try ${allowed}`),
  wrong_media_type: () => invalid(415, 'unsupported_media_type')('Content-Type must be application/json'),
  invalid_json: () => badRequest('The body is not valid JSON'),
  not_an_object: () => badRequest('The body must be a JSON object'),
  bad_idempotency_key: () => badRequest('Idempotency-Key: send one, of visible ASCII characters'),
  too_deep: () => badRequest('The body is nested too deeply'),
  too_many_bodies: (): ProxyError => ({
    status: 503,
    type: 'service_unavailable',
    code: 'too_many_bodies',
    message: tooManyBodies,
  }),
  too_many: () => badRequest('The body is made of too many parts'),
  too_many_fields: (most: number) => badRequest(`The body has more than ${most} fields`),
  too_expensive: (param: string) =>
    badRequest(`${param}: the input and the output of one request must be at most 2147483647 tokens`, param),
  field: (param: string, message: string) => badRequest(`${param}: ${message}`, param),
  unknown_model: (model: string) =>
    invalid(404, 'model_not_found')(`The model \`${model}\` does not exist or you do not have access to it`, 'model'),
  no_upstream: fixed(503, 'service_unavailable', 'no_upstream', 'No upstream is configured for this request'),
  not_recorded: fixed(
    503,
    'service_unavailable',
    'usage_not_recorded',
    'The request could not be recorded, please try again',
  ),
  unavailable: fixed(503, 'service_unavailable', 'unavailable', 'The gateway is not available, please try again'),
  loop_detected: fixed(
    508,
    'server_error',
    'loop_detected',
    'The request has passed this gateway before: an upstream of it leads back to it',
  ),
  /** The client does not receive it. It names the request in metrics. */
  client_gone: fixed(499, 'client_gone', null, 'The client has closed the connection'),
  upstream_error: fixed(502, 'upstream_error', 'upstream_error', 'The upstream did not answer properly'),
  upstream_refused: (status: number) =>
    fixed(
      status,
      'upstream_error',
      'upstream_error',
      'The upstream refused the request with an error that is not passed on',
    )(),
  upstream_too_large: fixed(502, 'upstream_error', 'upstream_error', 'The answer of the upstream is too large'),
  upstream_timeout: fixed(504, 'upstream_timeout', 'upstream_timeout', 'The upstream did not answer in time'),
  internal: fixed(500, 'server_error', 'internal_error', 'Something went wrong on our side'),
} as const;

/** The body of a refusal. */
export function errorBody({ message, type, code, param = null }: ProxyError): string {
  return JSON.stringify({ error: { message, type, code, param } });
}

const transportErrors: Readonly<Record<number, readonly [type: string, code: string, message: string]>> = {
  400: ['invalid_request_error', 'bad_request', 'Malformed request'],
  408: ['invalid_request_error', 'body_timeout', 'The body did not arrive in time'],
  413: ['invalid_request_error', 'body_too_large', 'The body is too large: at most {limit} bytes'],
  431: ['invalid_request_error', 'headers_too_large', 'The headers are too large'],
  503: ['service_unavailable', 'too_many_bodies', tooManyBodies],
};

/** The answer of the transport of the gateway port to a request that it refuses itself. `limit`: largest body in bytes. */
export function gatewayFault(status: number, limit = 0): { headers: Record<string, string>; body: string } {
  const known = transportErrors[status];
  const error = known
    ? { status, type: known[0], code: known[1], message: known[2].replace('{limit}', String(limit)) }
    : { ...proxyErrors.internal(), status };
  return {
    headers: { 'content-type': 'application/json; charset=utf-8', 'access-control-allow-origin': '*' },
    body: errorBody(error),
  };
}
