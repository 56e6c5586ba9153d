import { mkdtemp, rm, truncate, unlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileResponse } from './files.ts';

/** Clients that request a big file and never read it share one copy of it in memory. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradepost-files-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const ask = (path: string) => fileResponse(new Request('http://shop.test/'), folder, path);
type Sent = { _toNodeResponse(): { body: Uint8Array } };
const bytesOf = (response: Response) => (response as unknown as Sent)._toNodeResponse().body;

test('answers with the same file share its bytes, also for simultaneous requests', async () => {
  await writeFile(join(folder, 'big.js'), Buffer.alloc(1_000_000, 0x20));
  const [first, ...others] = (await Promise.all(Array.from({ length: 20 }, () => ask('big.js')))).map(bytesOf);
  expect(first!.byteLength).toBe(1_000_000);
  for (const bytes of [...others, bytesOf(await ask('big.js'))]) expect(bytes).toBe(first);
});

test('a file that has changed is read again', async () => {
  const file = join(folder, 'page.css');
  await writeFile(file, 'old');
  expect(await (await ask('page.css')).text()).toBe('old');
  await writeFile(file, 'new');
  await utimes(file, new Date(), new Date(Date.now() + 5_000));
  expect(await (await ask('page.css')).text()).toBe('new');
});

test('a file that is removed while it is requested is sent or not found', async () => {
  const names = Array.from({ length: 20 }, (_, n) => `removed-${n}.png`);
  await Promise.all(names.map((name) => writeFile(join(folder, name), 'x')));
  // The files are seen, then removed, then read: the calls of the file system run in the order in which they are queued.
  const asked = names.map(ask);
  await Promise.all(names.map((name) => unlink(join(folder, name))));
  for (const { status } of await Promise.all(asked)) expect([200, 404]).toContain(status);
});

test('the cache of files is limited', async () => {
  const names = Array.from({ length: 24 }, (_, index) => `picture-${index}.png`);
  for (const name of names) await writeFile(join(folder, name), Buffer.alloc(2_000_000));
  const first = bytesOf(await ask(names[0]!));
  for (const name of names) await ask(name);
  expect(bytesOf(await ask(names[0]!)), 'the least recently used file was removed').not.toBe(first);
});

test('the memory for files that slow clients still read is limited: further ones are streamed', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `slow-${index}.png`);
  const size = 8 * 1024 * 1024;
  for (const name of names) {
    await writeFile(join(folder, name), '');
    await truncate(join(folder, name), size);
  }
  const bodies = (await Promise.all(names.map(ask))).map(bytesOf);
  expect(bodies.filter((body) => body instanceof Uint8Array).length).toBeLessThanOrEqual(16);
  const streamed = bodies.find((body) => !(body instanceof Uint8Array));
  expect((await new Response(streamed).arrayBuffer()).byteLength).toBe(size);
});
