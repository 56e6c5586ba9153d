import type { IncomingMessage } from 'node:http';

/**
 * True for requests that node:http accepts although another reader could find another end of the request. The uWS transport
 * refuses them too.
 */
export const isMalformed = (req: IncomingMessage): boolean => {
  const encoding = req.headers['transfer-encoding'];
  if (encoding !== undefined) {
    if (encoding.toLowerCase() !== 'chunked' || req.httpVersionMinor === 0) return true;
    if (req.method === 'GET' || req.method === 'HEAD') return true;
  }
  let hosts = 0;
  for (let i = 0; i < req.rawHeaders.length; i += 2) if (req.rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  return hosts > 1 || (hosts === 0 && req.httpVersionMinor === 1);
};
