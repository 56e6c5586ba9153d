import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openRedisLimiter } from '../index.ts';

/**
 * An HTTP server that admits three requests per minute from each address. Start it several times on one Redis: all processes
 * count together. Arguments: the address of Redis, the port (0 takes a free port).
 */
const [redis = 'redis://127.0.0.1:6379', port = '0'] = process.argv.slice(2);
const log = { info: () => {}, warn: console.error };
const limiter = openRedisLimiter({ urls: [redis], log, deadlineMs: () => 50 });
await limiter.ready();
const limits = { user_rpm: 0, user_tpm: 0, token_rpm: 0, token_tpm: 0, ip_rpm: 3, model_rpm: 0, model_tpm: 0 };

const server = createServer(async (request, response) => {
  const ip = request.socket.remoteAddress ?? '';
  const verdict = await limiter.check({ user: 0, token: null, ip, model: '' }, limits, 0);
  if (verdict.admitted) response.end('hello\n');
  else
    response
      .writeHead(429, { 'retry-after': String(Math.ceil((verdict.waitMs ?? 60_000) / 1000)) })
      .end('too many requests\n');
});
server.listen(Number(port), '127.0.0.1');
await once(server, 'listening');
console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
process.once('SIGTERM', async () => {
  server.close();
  await limiter.close();
});
