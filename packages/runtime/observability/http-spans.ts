import { type Attributes, inCall, type Operation } from './spans.ts';
import { traceHeaders } from './trace.ts';

const statusOf = (status: number, firstError: number): Attributes => ({
  'http.response.status_code': status,
  ...(status >= firstError ? { 'error.type': String(status) } : {}),
});

/** A request that this process answers. The path is not recorded: it can have the id of a person. The route has none. */
export const serverOperation = (method: string, route: string | null): Operation<Response> => ({
  kind: 'server',
  // The name that OpenTelemetry gives a request of another kind.
  name: route === null ? 'HTTP' : `${method} ${route}`,
  attributes: { 'http.request.method': method, ...(route === null ? {} : { 'http.route': route }) },
  // A refusal is the fault of the client.
  ofResult: ({ status }) => statusOf(status, 500),
});

type Answered = { readonly statusCode: number } | { readonly status: number };

/** A request to another service. `service` is its name; of `url` the host and the port are recorded. */
export function callOperation(service: string, method: string, url: string | URL): Operation<Answered> {
  const { hostname, port, protocol } = new URL(url);
  return {
    kind: 'client',
    name: `${method} ${service}`,
    attributes: {
      'http.request.method': method,
      'peer.service': service,
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    },
    ofResult: (answer) => statusOf('status' in answer ? answer.status : answer.statusCode, 400),
  };
}

/** A `fetch` whose requests are calls to another service: they belong to the current trace. */
export function tracedFetch(service: string, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const send = () => {
      const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined));
      headers.set('traceparent', traceHeaders().traceparent);
      return fetch(input, { ...init, headers });
    };
    const url = input instanceof Request ? input.url : input;
    return inCall(callOperation(service, init.method ?? 'GET', url), send);
  };
}
