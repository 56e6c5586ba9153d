import { gzipSync } from 'node:zlib';
import { type Behaviour, delta, type FakeUpstream, openUpstream, sse } from '@tradepost/testing/servers/upstream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { goodKey, type OpenedProxy, openProxy } from '../testing/proxy.ts';

/** An upstream that repeats its key in an answer does not reveal it to clients. */
const key = 'sk-proj-Abc123"\\/Def456ghi789';
const spareKey = 'spare-key-9876543210';
const header = 'organisation-secret-1';
let upstream: FakeUpstream;
let proxy: OpenedProxy;
beforeAll(async () => {
  upstream = await openUpstream();
  const main = { name: 'main', base_url: upstream.url, api_key: key, headers: { 'x-org-token': header } };
  const spare = { name: 'spare', base_url: 'http://127.0.0.1:1/v1', api_key: spareKey, enabled: false };
  proxy = await openProxy({ 'gateway.upstreams': [main, spare], 'gateway.retry_attempts': 1 });
});
afterAll(async () => {
  await proxy?.close();
  await upstream?.close();
});
beforeEach(() => upstream.received.splice(0));

const secrets = [key, JSON.stringify(key).slice(1, -1), spareKey, header, key.slice(0, 16), key.slice(-8)];

async function ask(behaviour: Behaviour, more: object = {}) {
  upstream.script(behaviour);
  const response = await fetch(`${proxy.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt', messages: [{ role: 'user', content: 'hi' }], ...more }),
  });
  const text = await response.text();
  const all = `${text} ${JSON.stringify([...response.headers])}`;
  for (const secret of secrets) expect(all).not.toContain(secret);
  return { status: response.status, text, headers: response.headers };
}

test.each([400, 403, 404, 422, 429, 500, 503])('an error %i is relayed without keys', async (status) => {
  const message = `Incorrect API key provided: ${key}. Also ${spareKey}, ${header}, ${key.slice(0, 16)} and ***${key.slice(-4)}.`;
  const headers = { 'openai-version': `v-${spareKey}`, 'x-request-id': `req ${key}` };
  const {
    status: got,
    text,
    headers: returned,
  } = await ask({ status, headers, body: { error: { message, code: 'bad', param: null } } });
  expect(got).toBe(status);
  expect(JSON.parse(text)).toEqual({
    error: {
      message: 'Incorrect API key provided: [redacted]. Also [redacted], [redacted], [redacted] and [redacted].',
      code: 'bad',
      param: null,
    },
  });
  expect(returned.get('openai-version')).toBe('v-[redacted]');
  expect(returned.get('x-upstream-request-id')).toBe('req [redacted]');
});

test('an error without a key is relayed byte for byte', async () => {
  const body = '{ "error" : {"message":"context is too long: 1.50e3", "sk": "sk-"} }\n';
  expect((await ask({ status: 400, body })).text).toBe(body);
});

test('an error that cannot be searched is replaced and keeps its status', async () => {
  const packed = gzipSync(JSON.stringify({ error: key }));
  const chunks = [packed];
  const type = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const encoded = await ask({ status: 400, headers: type, chunks });
  expect(encoded.status).toBe(400);
  expect(JSON.parse(encoded.text).error.code).toBe('upstream_error');
  expect(encoded.headers.get('content-encoding')).toBeNull();
  const large = await ask({ status: 500, body: `${'x y '.repeat(30_000)}${key.slice(0, 16)}` });
  expect([large.status, JSON.parse(large.text).error.code]).toEqual([500, 'upstream_error']);
});

test('a key in a stream is removed wherever the stream is split, and no event is delayed', async () => {
  const event = sse({ error: { message: `key ${key} is over its quota, ${spareKey} too`, type: 'server_error' } });
  const at = event.indexOf('sk-proj');
  for (const cuts of [[at + 1], [at + 10], [at, at + 20], [at + 3, at + 4, at + 5]]) {
    const pieces = [...cuts, event.length].map((to, i) => event.slice(i === 0 ? 0 : cuts[i - 1], to));
    let sent = 0;
    const gate = async (index: number) => {
      sent = index;
      await new Promise((resolve) => setTimeout(resolve, 30));
    };
    const { text } = await ask({ chunks: [sse(delta('hello')), ...pieces, sse('[DONE]')], gate }, { stream: true });
    expect(sent).toBe(pieces.length + 1);
    expect(text).toBe(
      `${sse(delta('hello'))}${sse({ error: { message: 'key [redacted] is over its quota, [redacted] too', type: 'server_error' } })}${sse('[DONE]')}`,
    );
  }
});

test('an answer that repeats a key loses the key alone', async () => {
  const choices = [{ index: 0, message: { role: 'assistant', content: `your key is ${key}` }, finish_reason: 'stop' }];
  const { status, text } = await ask({ body: { id: 'c', object: 'chat.completion', choices } });
  expect(status).toBe(200);
  expect(JSON.parse(text).choices[0].message.content).toBe('your key is [redacted]');
});

test('a list of models that repeats a key is relayed without it', async () => {
  upstream.script({ body: { object: 'list', data: [{ id: `model-${spareKey}` }, { id: 'fine' }] } });
  const response = await fetch(`${proxy.url}/v1/models`, { headers: { authorization: `Bearer ${goodKey}` } });
  const text = await response.text();
  expect(text).toContain('"fine"');
  expect(text).not.toContain(spareKey);
});

test('no row of usage contains a key after the other tests', async () => {
  const rows = await proxy.rows();
  expect(rows.length).toBeGreaterThan(5);
  for (const secret of secrets) expect(JSON.stringify(rows)).not.toContain(secret);
});
