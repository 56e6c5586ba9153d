import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { keptConnections, networkFaultText } from './kept-connections.ts';

const options = { connections: 1, connectMs: 1_000, keepAliveMs: 1_000 };

test.each(['http://169.254.169.254', 'http://[::ffff:169.254.169.254]', 'http://2852039166', 'http://[fd00:ec2::254]'])(
  'there is no connection to the metadata service of a cloud at %s',
  async (origin) => {
    const { pool } = keptConnections(origin, options);
    const fault = await pool.request({ method: 'GET', path: '/latest' }).catch((error: unknown) => error);
    expect(networkFaultText(fault, 'other')).toBe('the address is not allowed (REFUSED_ADDRESS)');
    await pool.destroy();
  },
);

test('a private address is connected to, by its number and by a name', async () => {
  const server = createServer((_, response) => response.end('here'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  for (const host of ['127.0.0.1', 'localhost']) {
    const { pool } = keptConnections(`http://${host}:${port}`, options);
    const { body } = await pool.request({ method: 'GET', path: '/' });
    expect(await body.text()).toBe('here');
    await pool.destroy();
  }
  await new Promise((resolve) => server.close(resolve));
});
