import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32, deflateRawSync } from 'node:zlib';
import { examplePng } from '@tradepost/testing/routes/multipart';
import type { Attack, AttackRun } from './attack.ts';
import { type Attacker, faultOfReply, openAttacker, type Reply } from './attacker.ts';
import { dial, inParallel, type RawConnection, statusesOf, times } from './sockets.ts';

const path = '/api/v1/upload';
const boundary = 'a-boundary-of-the-attack';
const formType = `multipart/form-data; boundary=${boundary}`;

type Part = { name?: string; file?: string; type?: string; bytes: Uint8Array | string };

/** A multipart form. `end` is its last line. */
const form = (parts: readonly Part[], end = `--${boundary}--\r\n`): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ name = 'file', file = 'a.png', type = 'image/png', bytes }) => [
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${file}"\r\nContent-Type: ${type}\r\n\r\n`,
      ),
      Buffer.from(bytes as Uint8Array),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(end),
  ]);

/** An image of about this size. Readers ignore what follows the end of a PNG. */
const image = (bytes: number): Buffer => Buffer.concat([examplePng, randomBytes(bytes)]);

/** A ZIP archive with one file of `bytes` zeros. */
function zipBomb(bytes: number): Buffer {
  const zeros = Buffer.alloc(bytes);
  const packed = deflateRawSync(zeros, { level: 9 });
  const fields = Buffer.alloc(22);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(8, 4);
  fields.writeUInt32LE(crc32(zeros), 10);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(bytes, 18);
  const name = Buffer.from('zeros');
  const lengths = Buffer.from([name.length, 0, 0, 0]);
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, lengths, name, packed]);
  const central = Buffer.concat([
    ...[Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), fields, lengths, Buffer.alloc(14), name],
  ]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(local.length, 12);
  return Buffer.concat([local, central, Buffer.from('PK\x05\x06'), end]);
}

const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(document.domain)</script></svg>';

type Case = { name: string; body: Buffer; type?: string; taken?: boolean };

const cases = (): Case[] => [
  { name: 'a zip bomb named .png', body: form([{ bytes: zipBomb(20_000_000) }]) },
  { name: 'a file of 0 bytes', body: form([{ bytes: '' }]) },
  { name: 'an SVG with a script', body: form([{ file: 'a.svg', type: 'image/svg+xml', bytes: svg }]) },
  { name: 'an SVG with a script named .png', body: form([{ bytes: svg }]) },
  { name: 'HTML named .png', body: form([{ bytes: '<!doctype html><script>alert(1)</script>' }]) },
  { name: 'the first four bytes of a PNG', body: form([{ bytes: examplePng.subarray(0, 4) }]) },
  { name: 'another boundary', body: form([{ bytes: image(1_000) }]), type: 'multipart/form-data; boundary=other' },
  { name: 'no boundary', body: form([{ bytes: image(1_000) }]), type: 'multipart/form-data' },
  { name: 'an empty boundary', body: form([{ bytes: image(1_000) }]), type: 'multipart/form-data; boundary=""' },
  { name: 'a form without its end', body: form([{ bytes: image(100_000) }], '') },
  { name: 'a form without a file', body: form([{ name: 'other', bytes: image(1_000) }]) },
  { name: 'an empty form', body: form([]) },
  { name: 'JSON', body: Buffer.from('{"file":"a.png"}'), type: 'application/json' },
  { name: 'no form at all', body: randomBytes(100_000) },
  { name: '11 MB', body: form([{ bytes: image(11 * 2 ** 20) }]) },
  { name: '20,000 parts', body: form(times(20_000).map((n) => ({ name: `f${n}`, bytes: 'x' }))) },
  ...[
    '../../../etc/passwd.png',
    '..\\..\\a.png',
    '/etc/a.png',
    'a\0.png',
    'x'.repeat(2_000_000),
    `${'x'.repeat(3_000)}.png`,
    '.png',
    '',
  ].map((file) => ({
    name: `the file name ${JSON.stringify(file.slice(0, 30))}`,
    body: form([{ file, bytes: image(500) }]),
    taken: true,
  })),
];

/** All files below a folder, as relative paths. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

const headOf = (token: string, line: string) =>
  `POST ${path} HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${formType}\r\n${line}\r\n\r\n`;

/** Uploads of raw connections that break off, or whose announced length is not true. */
async function brokenOff(attackRun: AttackRun, token: string): Promise<void> {
  const { target } = attackRun;
  const start = form([{ bytes: image(300_000) }]).subarray(0, 200_000);
  const begin = async (line: string, bytes: Uint8Array): Promise<RawConnection> => {
    const connection = await dial(target.api.port);
    connection.send(headOf(token, line));
    connection.send(bytes);
    attackRun.sent(1);
    return connection;
  };
  const announced = await begin('Content-Length: 5000000000', start);
  const begun = performance.now();
  await announced.until((text) => statusesOf(text).length > 0, 10_000);
  if (statusesOf(announced.received())[0] !== 413)
    attackRun.fault(`5 GB announced: answered ${announced.received().slice(0, 80)}`);
  if (performance.now() - begun > 5_000) attackRun.fault('5 GB announced: not refused at once');
  announced.destroy();

  const endless = await begin('Transfer-Encoding: chunked', Buffer.alloc(0));
  const chunk = Buffer.concat([Buffer.from('40000\r\n'), Buffer.alloc(0x40000), Buffer.from('\r\n')]);
  const first = form([{ bytes: examplePng }], '').subarray(0, -2);
  endless.send(Buffer.concat([Buffer.from(`${first.length.toString(16)}\r\n`), first, Buffer.from('\r\n')]));
  for (let sent = 0; sent < 400 && !endless.closed() && statusesOf(endless.received()).length === 0; sent += 1) {
    endless.send(chunk);
    await sleep(2);
  }
  await endless.until((text) => statusesOf(text).length > 0, 10_000);
  if (!endless.closed() && statusesOf(endless.received()).length === 0)
    attackRun.fault('a body of 100 MB in chunks was neither answered nor cut');
  endless.destroy();

  await inParallel(times(attackRun.of({ short: 60, long: 600 })), 30, async (index) => {
    const connection = await begin('Content-Length: 400000', start.subarray(0, 100 + 1_700 * (index % 100)));
    await sleep(index % 50);
    connection.destroy();
  });
}

async function send(attackRun: AttackRun): Promise<void> {
  const { servers, target } = attackRun;
  const folder = join(target.data, 'uploads');
  const before = new Set(await filesBelow(folder));
  const attacker = openAttacker({ sockets: 64 });
  const [first, ...more] = await servers.shoppers(8);
  const taken: string[] = [];
  const upload = async (from: Attacker, token: string, of: Case): Promise<Reply> => {
    const headers = { 'content-type': of.type ?? formType };
    const reply = await from.ask(target.api.url, path, { body: of.body, token, headers, method: 'POST' });
    attackRun.sent(1);
    const fault = faultOfReply(reply);
    if (fault) attackRun.fault(`${of.name}: ${fault}`);
    if (reply.code === 0) taken.push((JSON.parse(reply.text) as { data: { path: string } }).data.path);
    return reply;
  };
  await inParallel(cases(), 6, async (of) => {
    const reply = await upload(attacker, first!.token, of);
    if (reply.code === 0 && !of.taken) attackRun.fault(`${of.name}: was taken`);
    if (reply.code > 0 && !reply.text.includes('"message":"')) attackRun.fault(`${of.name}: refused without a reason`);
  });
  const anonymous = await attacker.ask(target.api.url, path, {
    ...{ body: form([{ bytes: image(1_000_000) }]), method: 'POST', headers: { 'content-type': formType } },
  });
  if (anonymous.status !== 401) attackRun.fault(`without a token: ${anonymous.status} ${anonymous.text.slice(0, 100)}`);
  await brokenOff(attackRun, more[0]!.token);

  const megabyte = form([{ bytes: image(1_000_000) }]);
  await inParallel(times(attackRun.of({ short: 64, long: 1_024 })), 64, async (index) => {
    const { token } = more[index % more.length]!;
    const reply = await upload(attacker, token, { name: '64 uploads at once', body: megabyte });
    if (reply.status !== 503 && reply.code !== 0)
      attackRun.fault(`64 uploads at once: ${reply.status} ${reply.text.slice(0, 100)}`);
  });
  attacker.close();

  // Broken uploads are undone when the server notices that the client has left.
  const expected = new Set(taken);
  let stray: string[] = [];
  for (const end = performance.now() + 5_000; performance.now() < end; await sleep(100)) {
    stray = (await filesBelow(folder)).filter((file) => !before.has(file) && !expected.has(file));
    if (stray.length === 0) break;
  }
  if (stray.length > 0) attackRun.fault(`${stray.length} stray files, such as ${stray.slice(0, 3).join(', ')}`);
  const left = new Set(await filesBelow(folder));
  const lost = taken.filter((file) => !left.has(file));
  if (lost.length > 0) attackRun.fault(`${lost.length} files that were taken are not there, such as ${lost[0]}`);
  const outside = taken.filter((file) => !/^\d{4}\/\d{2}\/\d+_[0-9a-f]{12}\.png$/.test(file));
  if (outside.length > 0) attackRun.fault(`a stored path of another form: ${outside[0]}`);
  for (const file of taken.slice(0, 5)) {
    const response = await fetch(`${target.api.url}/uploads/${file}`);
    await response.arrayBuffer();
    const type = response.headers.get('content-type');
    if (response.status !== 200 || type !== 'image/png' || response.headers.get('x-content-type-options') !== 'nosniff')
      attackRun.fault(
        `/uploads/${file}: ${response.status} ${type}, ${response.headers.get('x-content-type-options')}`,
      );
  }
}

/** No hostile upload is stored, makes the server fail, leaves a file behind, or takes memory from others. */
export const uploads: Attack = {
  name: 'uploads',
  about: 'files that are not images, false forms and lengths, broken connections, and 64 uploads at once',
  transports: 'each',
  run: send,
};
