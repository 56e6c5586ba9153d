import type { Runtime } from '@tradepost/runtime';
import { FastResponse } from 'srvx';

export type AdminRuntime = Pick<Runtime, 'metrics' | 'parts'>;

const headersOf = (type: string): [string, string][] => [
  ['content-type', type],
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
];
const json = (status: number, value: unknown) =>
  new FastResponse(JSON.stringify(value), { status, headers: headersOf('application/json; charset=utf-8') });

const paths = ['/health', '/ready', '/metrics'];

/**
 * Answers the requests of the admin listener. Unlike the public ports it names the part that fails. Its answers have no CORS
 * headers, so a page of a browser cannot read them.
 */
export function adminFetch(
  { metrics, parts }: AdminRuntime,
  version: string,
): (request: Request) => Response | Promise<Response> {
  const ready = async () => {
    const states = await parts.check();
    const isReady = states.every(({ ok }) => ok);
    return json(isReady ? 200 : 503, {
      status: isReady ? 'ok' : 'unavailable',
      version,
      pid: process.pid,
      parts: states,
    });
  };
  return (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return json(405, { error: 'only GET and HEAD' });
    switch (new URL(request.url).pathname) {
      case '/health':
        return json(200, { status: 'ok', version, pid: process.pid, uptime_seconds: Math.round(process.uptime()) });
      case '/ready':
        return ready();
      case '/metrics':
        return metrics
          .read()
          .then((text) => new FastResponse(text, { headers: headersOf(metrics.registry.contentType) }));
      default:
        return json(404, { error: 'unknown path', paths });
    }
  };
}
