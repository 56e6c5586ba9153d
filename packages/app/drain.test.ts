import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLog } from '@tradepost/runtime';
import { openShop } from '@tradepost/testing/shop';
import { expect, test } from 'vitest';

/** On a connection of its own. The server may not close it before the client does. */
const statusOf = async (url: string) => {
  const agent = new Agent({ keepAlive: true });
  const sent = get(url, { agent });
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of answer) text += part;
  agent.destroy();
  return { status: answer.statusCode, connection: answer.headers.connection, text };
};

test('a process behind a proxy says first that it is not ready, and serves until the proxy has turned away', async () => {
  const lines: string[] = [];
  const log = openLog({ level: 'info', stream: { write: (line: string) => lines.push(line) } });
  const shop = await openShop({ adminPort: 0, drainSeconds: 2 }, {}, { log });
  const admin = shop.server.admin!.url;
  const products = `${shop.url}/api/v1/products`;
  expect((await statusOf(`${admin}/ready`)).status).toBe(200);
  let stopped = false;
  const stopping = shop.close().then(() => {
    stopped = true;
  });
  await sleep(100);
  const [inside, outside, health, served] = await Promise.all(
    [`${admin}/ready`, `${shop.url}/ready`, `${shop.url}/health`, products].map(statusOf),
  );
  expect([inside!.status, outside!.status, health!.status, served!.status]).toEqual([503, 503, 200, 200]);
  expect(JSON.parse(inside!.text).parts).toContainEqual(
    expect.objectContaining({ name: 'process', ok: false, error: 'it is being stopped' }),
  );
  expect(JSON.parse(outside!.text)).toEqual({ status: 'unavailable' });
  expect(served!.connection).not.toBe('close');
  await sleep(1_000);
  expect((await statusOf(products)).status).toBe(200);
  expect(stopped).toBe(false);
  await expect
    .poll(
      () =>
        statusOf(products).then(
          () => 'served',
          (error: NodeJS.ErrnoException) => error.code,
        ),
      { timeout: 20_000, interval: 50 },
    )
    .toMatch(/ECONNREFUSED|ECONNRESET/);
  await stopping;
  const said = lines.map((line) => JSON.parse(line)).filter(({ msg }) => /ready/.test(msg));
  expect(said).toEqual([expect.objectContaining({ level: 'info', msg: expect.stringMatching(/^draining/) })]);
});
