import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import {
  DEFAULT_BODY_TIMEOUT,
  DEFAULT_CLOSE_DEADLINE,
  DEFAULT_MAX_BODY,
  type Transport,
  type TransportOptions,
} from './transport.ts';
import { bodyLength, collect } from './uws-body.ts';
import { UwsRequest, type UwsServer } from './uws-request.ts';
import { fault } from './uws-response.ts';
import { run } from './uws-run.ts';

/*
 * What this adapter has to know about uWebSockets.js 20 (each found by talking to it over a raw socket):
 * - A second request that arrives on a connection while the first is unanswered makes uWS close the connection:
 *   the first is aborted, the second never starts. Promise jobs run between two requests of one packet, so pipelined
 *   requests whose handlers wait for no I/O (or only for their own body) are all answered, in order.
 * - A half-closed connection is closed at once, with its unanswered request aborted.
 * - Timeouts are 10 s (in steps of 4 s): no complete header, no request on a kept-alive connection, a reader that takes
 *   nothing, a body slower than 16 kB/s. A waiting handler and an idle streamed response have none. `resume()` starts the
 *   timeout anew, which is how a body gets its whole `bodyTimeoutMs`.
 * - Header block limit 4096 bytes (UWS_HTTP_MAX_HEADERS_SIZE, read when the binary is loaded) and 100 headers: 431.
 * - HTTP/1.0, absolute-form and asterisk targets, and a TCP segment that ends within "HTTP/1.1": 505.
 * - Header values lose non-ASCII bytes at their end; invalid UTF-8 in them becomes U+FFFD.
 * - A head without Host, or with a line that has no colon, gets no answer: closed after the timeout.
 * - The handler is called before Content-Length is looked at: a malformed or repeated one is refused here.
 * - `endWithoutBody` with any argument leaves the response unfinished, which ends the process; without one it is fine.
 * - With an `onWritable` handler uWS no longer empties its own buffer: only a further, non-empty write does.
 */

type UwsModule = typeof import('uWebSockets.js') & {
  LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  _cfg?: (key: string) => void;
};

export const load = async (): Promise<UwsModule> => {
  // Read once, when the binary is loaded: the 4096 bytes of uWS are little for cookies; 16 KiB is what node:http takes.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384';
  try {
    return (await import('uWebSockets.js')) as unknown as UwsModule;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    const message = `uWebSockets.js cannot be loaded on ${process.platform} ${process.arch}, Node ${process.version}: ${reason}`;
    throw Object.assign(new Error(message, { cause: error }), { binaryMissing: true });
  }
};

export const serveUws = async (options: TransportOptions): Promise<Transport> => {
  const uws = await load();
  // Leaves out the "uWebSockets: 20" response header.
  uws._cfg?.('silent');
  const hostname = options.hostname ?? '127.0.0.1';
  const server: UwsServer = {
    fetch: options.fetch,
    hostname,
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY,
    maxBufferedBytes: options.maxBufferedBytes ?? Number.POSITIVE_INFINITY,
    buffered: 0,
    bodyTimeoutMs: options.bodyTimeoutMs ?? DEFAULT_BODY_TIMEOUT,
    faultResponse: options.faultResponse,
    active: 0,
    background: 0,
    closing: false,
    onIdle: undefined,
  };

  const withoutBody = (method: string) => (res: HttpResponse, req: HttpRequest) => {
    server.active++;
    const request = new UwsRequest(server, res, req, method, req.getUrl(), req.getQuery());
    // A body here is ignored, but one of two lengths must not be: somebody else on the way may believe the other.
    const framed = req.getHeader('content-length') !== '' || req.getHeader('transfer-encoding') !== '';
    if (framed && bodyLength(request._copied()) === -2) fault(request, 400, true);
    else run(request, false);
  };
  const app: TemplatedApp = uws.App();
  app.get('/*', withoutBody('GET'));
  app.head('/*', withoutBody('HEAD'));
  app.any('/*', (res, req) => {
    server.active++;
    const request = new UwsRequest(server, res, req, req.getCaseSensitiveMethod(), req.getUrl(), req.getQuery());
    const length = bodyLength(request._copied());
    if (length === 0) run(request, false);
    else if (length === -2) fault(request, 400, true);
    else {
      request._req = null;
      collect(request, length);
    }
  });

  const listen = app.listen as unknown as (
    host: string,
    port: number,
    listenOptions: number,
    callback: (token: us_listen_socket | false) => void,
  ) => void;
  const token = await new Promise<us_listen_socket | false>((resolve) => {
    // Without this option uWS shares the port (SO_REUSEPORT) with whoever else listens on it.
    listen.call(app, hostname, options.port ?? 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
  if (token === false) {
    app.close();
    // uWS gives no reason.
    throw new Error(`Cannot listen on ${hostname}:${options.port ?? 0}: address in use or not available`);
  }
  const port = uws.us_socket_local_port(token as unknown as Parameters<typeof uws.us_socket_local_port>[0]);

  let closed: Promise<void> | undefined;
  const shut = async (deadlineMs: number): Promise<void> => {
    server.closing = true;
    uws.us_listen_socket_close(token);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
      server.onIdle = () => {
        if (server.active > 0 || server.background > 0) return;
        clearTimeout(timer);
        // The last response may still be in the cork of the running callback.
        setImmediate(resolve);
      };
      server.onIdle();
    });
    server.onIdle = undefined;
    app.close();
  };

  return {
    name: 'uws',
    url: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`,
    port,
    hostname,
    close: (deadlineMs = DEFAULT_CLOSE_DEADLINE) => {
      closed ??= shut(deadlineMs);
      return closed;
    },
    activeRequests: () => server.active,
  };
};
