import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settings } from '@tradepost/app';
import { openTokens } from '@tradepost/identity';
import { loadConfig, openLog, openRuntime } from '@tradepost/runtime';
import { startProcess } from '@tradepost/testing/processes/process';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { filesIn, formWith, pngOf } from '../testing/forms.ts';

let data: string;
let database: TestDatabase;
let token: string;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'tradepost-uploads-'));
  await chmod(data, 0o755);
  database = await cloneDatabase();
  const { config } = loadConfig({ env: {}, flags: { databaseUrl: database.url, data } });
  const runtime = await openRuntime({ config, definitions: settings, log: openLog({ level: 'silent' }) });
  const [row] = await runtime.sql<
    { id: number }[]
  >`insert into identity.shoppers (username) values ('ann') returning id`;
  const tokens = await openTokens(runtime);
  token = await tokens.issue({ role: 'user', id: row!.id, perms: [] });
  await tokens.close();
  await runtime.close();
});
afterAll(async () => {
  await database?.drop();
  await rm(data, { recursive: true, force: true });
});

const start = () => startProcess(['--data', data, '--only', 'api', '--seed', 'none'], { DATABASE_URL: database.url });

/** Sends the first part of an upload and leaves the connection open. */
function half(url: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `POST /api/v1/upload HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
      'Content-Type: multipart/form-data; boundary=a\r\nContent-Length: 2000000\r\n\r\n' +
      '--a\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n',
  );
  socket.write(pngOf(500_000));
  return socket;
}

test('after kill -9 during uploads no half-written file is served, and the next start removes the rests', async () => {
  const first = await start();
  const whole = async () => {
    const response = await fetch(`${first.url}/api/v1/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: formWith({ content: pngOf(1_000_000) }),
    });
    return ((await response.json()) as { data: { path: string } }).data.path;
  };
  const answered = [await whole()];
  const sockets = Array.from({ length: 10 }, () => half(first.url));
  const uploads = join(data, 'uploads');
  await vi.waitFor(async () => expect(await filesIn(join(uploads, '.incoming'))).toHaveLength(10), 10_000);
  // Some of these are in the middle of their rename or their commit when the process ends.
  const racing = Array.from({ length: 20 }, () =>
    whole()
      .then((path) => answered.push(path))
      .catch(() => {}),
  );
  await Promise.race(racing);
  first.child.kill('SIGKILL');
  await first.ended;
  await Promise.all(racing);
  for (const socket of sockets) socket.destroy();

  const second = await start();
  expect(await filesIn(join(uploads, '.incoming'))).toEqual([]);
  const content = pngOf(1_000_000);
  for (const path of await filesIn(uploads)) {
    const served = Buffer.from(await (await fetch(`${second.url}/uploads/${path}`)).arrayBuffer());
    expect(served.equals(content), path).toBe(true);
  }
  for (const path of answered) expect((await fetch(`${second.url}/uploads/${path}`)).status).toBe(200);
  const stored = await database.sql<{ path: string }[]>`select path from storage.files where state = 'stored'`;
  for (const { path } of stored) expect((await fetch(`${second.url}/uploads/${path}`)).status).toBe(200);
  second.child.kill('SIGTERM');
  await second.ended;
}, 60_000);
