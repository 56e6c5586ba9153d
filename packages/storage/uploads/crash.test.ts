import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { settings } from '@tradepost/app';
import { openTokens } from '@tradepost/identity';
import { loadConfig, openLog, openRuntime } from '@tradepost/runtime';
import { type RunningServer, startProcess } from '@tradepost/testing/processes/process';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { filesIn, formWith, pngOf } from '../testing/forms.ts';

let data: string;
let database: TestDatabase;
let token: string;
/** The server of both tests. The first test kills the one before it. */
let server: RunningServer | undefined;
const uploads = () => join(data, 'uploads');

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
  server?.child.kill('SIGTERM');
  await server?.ended;
  await database?.drop();
  await rm(data, { recursive: true, force: true });
});

const start = () => startProcess(['--data', data, '--only', 'api', '--seed', 'none'], { DATABASE_URL: database.url });

type Answer = { code: number; message: string; data: { path: string } };

async function send(url: string, bytes: number): Promise<Answer> {
  const response = await fetch(`${url}/api/v1/upload?lang=en`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: formWith({ content: pngOf(bytes) }),
  });
  return (await response.json()) as Answer;
}

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
  const whole = async () => (await send(first.url, 1_000_000)).data.path;
  const answered = [await whole()];
  const sockets = Array.from({ length: 10 }, () => half(first.url));
  await vi.waitFor(async () => expect(await filesIn(join(uploads(), '.incoming'))).toHaveLength(10), 10_000);
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
  server = second;
  expect(await filesIn(join(uploads(), '.incoming'))).toEqual([]);
  const content = pngOf(1_000_000);
  for (const path of await filesIn(uploads())) {
    const served = Buffer.from(await (await fetch(`${second.url}/uploads/${path}`)).arrayBuffer());
    expect(served.equals(content), path).toBe(true);
  }
  for (const path of answered) expect((await fetch(`${second.url}/uploads/${path}`)).status).toBe(200);
  const stored = await database.sql<{ path: string }[]>`select path from storage.files where state = 'stored'`;
  for (const { path } of stored) expect((await fetch(`${second.url}/uploads/${path}`)).status).toBe(200);
});

// The limit of a process for its files makes writes fail for real, for every account. Only Linux can set it for another process.
test.runIf(process.platform === 'linux')(
  'without space an upload is refused by name, nothing of it stays, and the next one that fits is stored',
  async () => {
    server ??= await start();
    const { url, child } = server;
    const rows = () => database.sql`select id, state from storage.files order by id`;
    const [before, rowsBefore] = [await filesIn(uploads()), await rows()];
    await promisify(execFile)('prlimit', ['--pid', String(child.pid), '--fsize=300000']);
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(url, 1_000_000)));
    for (const answer of answers)
      expect(answer).toMatchObject({ code: 500, message: 'There is no space left for uploads' });
    expect(await filesIn(uploads())).toEqual(before);
    expect(await rows()).toEqual(rowsBefore);
    const { code, data: stored } = await send(url, 200_000);
    expect(code).toBe(0);
    expect(await filesIn(uploads())).toEqual([...before, stored.path].sort());
  },
);
