import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openRedis, redisIsInstalled } from '@tradepost/testing/servers/redis';
import { expect, test } from 'vitest';

const example = (name: string) => join(import.meta.dirname, name);

test('the example in one process admits two requests and refuses the third', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [example('in-process.ts')]);
  expect(stdout).toMatch(/^1 admitted\n2 admitted\n3 refused by user_rpm wait \d+ ms\n$/);
});

test.skipIf(!redisIsInstalled('the example on Redis'))('two example servers on one Redis count together', async () => {
  const redis = await openRedis();
  const servers = [1, 2].map(() =>
    spawn(process.execPath, [example('http-server.ts'), redis.url], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  try {
    const urls = await Promise.all(servers.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]).trim()));
    const responses: Response[] = [];
    for (const url of [...urls, ...urls]) responses.push(await fetch(url));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(Number(responses[3]!.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const server of servers) server.kill('SIGTERM');
    const codes = await Promise.all(servers.map(async (server) => server.exitCode ?? (await once(server, 'exit'))[0]));
    expect(codes).toEqual([0, 0]);
  } finally {
    for (const server of servers) server.kill('SIGKILL');
    await redis.close();
  }
});
