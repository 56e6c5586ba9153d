import type { Buyer } from '../faults/test-shop.ts';
import type { Attack, AttackRun } from './attack.ts';
import { dial, inParallel, statusesOf } from './sockets.ts';

/** The value of a header as bytes. */
type Value = string | Buffer;
const utf8 = (text: string) => Buffer.from(text, 'utf8');
const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** Keys that become equal when bytes outside ASCII are removed. */
const keyPairs: readonly (readonly [name: string, one: Value, other: Value])[] = [
  ['Latin-1 at the end', latin1('order-\xe9'), latin1('order-\xe8')],
  ['UTF-8 at the end', utf8('order-é'), utf8('order-è')],
  ['Chinese', utf8('订单一'), utf8('订单二')],
  ['bytes that are no UTF-8', Buffer.from([0x6b, 0xff, 0xfe]), Buffer.from([0x6b, 0xfd, 0xfc])],
  ['one letter more', latin1('order-a\xe9'), 'order-a'],
  ['a blank within', 'order a', 'order  a'],
  ['256 characters', 'k'.repeat(256), `${'k'.repeat(255)}l`],
  ['4,000 characters', 'k'.repeat(4_000), `${'k'.repeat(3_999)}l`],
];

/** Header names and values that the shop does not use. */
const oddHeaders: readonly (readonly [name: string, ...lines: Value[]])[] = [
  ['a value of 14 kB', `X-Long: ${'a'.repeat(14_000)}`],
  ['a value of 100 kB', `X-Long: ${'a'.repeat(100_000)}`],
  ['90 headers', Array.from({ length: 90 }, (_, index) => `X-${index}: a`).join('\r\n')],
  ['5,000 headers', Array.from({ length: 5_000 }, (_, index) => `X-${index}: a`).join('\r\n')],
  ['the same header 90 times', Array.from({ length: 90 }, () => 'X-Forwarded-For: 10.0.0.1').join('\r\n')],
  ['1,000 languages', `Accept-Language: ${'zz;q=0.1,'.repeat(1_000)}en`],
  ['a language of odd bytes', latin1('Accept-Language: \xe9\xff;q=\xe9')],
  ['a long trace', `X-Request-Id: ${'t'.repeat(8_000)}`],
  ['a trace outside ASCII', utf8('X-Request-Id: 订单')],
  ['an invalid token', 'Authorization: Bearer a.b.c'],
  ['a token without a signature', 'Authorization: Bearer eyJhbGciOiJub25lIn0.eyJ1c2VyX2lkIjoxLCJyb2xlIjoiYWRtaW4ifQ.'],
  ['a long token', `Authorization: Bearer ${'a'.repeat(12_000)}`],
  ['a token outside ASCII', latin1('Authorization: Bearer \xe9\xff')],
  ['two tokens', 'Authorization: Bearer a', 'Authorization: Bearer b'],
  ['another scheme', 'Authorization: Basic YWRtaW46YWRtaW4xMjM='],
  ['a content type of odd bytes', latin1('Content-Type: application/json; charset=\xff')],
  ['many proxies', `X-Forwarded-For: ${'10.0.0.1, '.repeat(1_000)}10.0.0.1`],
  ['a range', 'Range: bytes=0-,0-,0-,0-,0-,0-,0-'],
  ['conditions', 'If-None-Match: *', 'If-Modified-Since: x'],
];

async function exchange(attackRun: AttackRun, bytes: Buffer): Promise<{ status: number | null; text: string }> {
  const connection = await dial(attackRun.target.api.port);
  connection.send(bytes);
  attackRun.sent(1);
  const whole = (text: string) => {
    const body = text.indexOf('\r\n\r\n');
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? Number.NaN);
    return body > 0 && (Number.isNaN(length) || text.length >= Math.min(60_000, body + 4 + length));
  };
  await connection.until(whole, 16_000);
  const text = connection.received();
  connection.destroy();
  return { status: statusesOf(text)[0] ?? null, text };
}

const requestOf = (start: string, lines: readonly Value[], body = '') =>
  Buffer.concat([
    latin1(`${start} HTTP/1.1\r\n`),
    ...lines.flatMap((line) => [typeof line === 'string' ? latin1(line) : line, latin1('\r\n')]),
    latin1(`${body === '' ? '' : `Content-Length: ${body.length}\r\n`}\r\n${body}`),
  ]);

function orderWith(attackRun: AttackRun, { token, address_id }: Buyer, key: Value): Promise<{ text: string }> {
  const body = JSON.stringify({ address_id, items: [{ sku_id: attackRun.servers.skuIds[0] }] });
  const keyLine = Buffer.concat([latin1('Idempotency-Key: '), typeof key === 'string' ? latin1(key) : key]);
  const lines = ['Host: shop.example', `Authorization: Bearer ${token}`, 'Content-Type: application/json', keyLine];
  return exchange(attackRun, requestOf('POST /api/v1/orders', lines, body));
}

const orderIn = (text: string) => /"code":0,.*?"id":(\d+)/.exec(text)?.[1] ?? null;

/** Two different keys lead to two orders or two refusals, never to one order for both. */
async function keys(attackRun: AttackRun): Promise<void> {
  const buyers = await attackRun.servers.shoppers(keyPairs.length);
  await inParallel(keyPairs, 8, async ([name, one, other], index) => {
    for (const key of [one, other]) {
      const { text } = await orderWith(attackRun, buyers[index]!, key);
      const isPlain = typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key);
      if (!isPlain && orderIn(text) !== null) attackRun.fault(`an Idempotency-Key with ${name} was accepted`);
      if (isPlain && orderIn(text) === null)
        attackRun.fault(`a plain Idempotency-Key was refused: ${text.slice(-200)}`);
    }
  });
}

async function odd(attackRun: AttackRun): Promise<void> {
  const targets = ['GET /api/v1/products', 'GET /api/v1/orders', 'POST /api/v1/cart/add'];
  const asked = oddHeaders.flatMap((header) => targets.map((start) => ({ header, start })));
  await inParallel(asked, 20, async ({ header: [name, ...lines], start }) => {
    const { status, text } = await exchange(attackRun, requestOf(start, ['Host: shop.example', ...lines]));
    if (status !== null && status >= 500) attackRun.fault(`${start} with ${name}: ${text.slice(0, 200)}`);
    const head = text.slice(0, Math.max(0, text.indexOf('\r\n\r\n')));
    if (head.length > 4_000) attackRun.fault(`${start} with ${name}: the answer has a head of ${head.length} bytes`);
  });
}

/** The Host header of a request never appears as an address of the shop. */
async function hosts(attackRun: AttackRun): Promise<void> {
  for (const path of ['/api/v1/products', '/api/v1/site-settings', '/openapi.json', '/docs', '/'])
    for (const line of ['Host: evil.example', 'X-Forwarded-Host: evil.example', 'Forwarded: host=evil.example']) {
      const lines = line.startsWith('Host') ? [line] : ['Host: shop.example', line];
      const { text } = await exchange(attackRun, requestOf(`GET ${path}`, lines));
      if (text.includes('evil.example')) attackRun.fault(`${path} with ${line} answers with that host`);
    }
}

/** No header makes the server fail, is confused with another header, or appears in an answer as an address of the shop. */
export const headers: Attack = {
  name: 'headers',
  about: 'idempotency keys outside ASCII; long, repeated and unusual headers; foreign hosts',
  transports: 'each',
  async run(attackRun) {
    await keys(attackRun);
    await odd(attackRun);
    await hosts(attackRun);
  },
};
