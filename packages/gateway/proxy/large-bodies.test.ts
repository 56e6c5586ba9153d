import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type FakeUpstream, openUpstream } from '@tradepost/testing/servers/upstream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRequest } from '../messages/chat-request.ts';
import { costlyBodies, hostileBodies } from '../testing/hostile-bodies.ts';
import { goodKey, type OpenedProxy, openProxy } from '../testing/proxy.ts';
import { openLargeBodies } from './large-bodies.ts';

/** The body of one client does not delay the requests of others. */
const bytes = 8 * 1024 * 1024;
const hostile = hostileBodies(bytes - 1_000);
const costly = costlyBodies(bytes - 1_000);

let upstream: FakeUpstream;
let proxy: OpenedProxy;
beforeAll(async () => {
  upstream = await openUpstream();
  proxy = await openProxy(
    { 'gateway.upstreams': [{ name: 'main', base_url: upstream.url }], 'ratelimit.user_default_tpm': 0 },
    { maxBodyBytes: bytes },
  );
});
afterAll(async () => {
  await proxy?.close();
  await upstream?.close();
});

const url = () => `${proxy.url}/v1/chat/completions`;
const post = (body: Uint8Array | string) =>
  fetch(url(), {
    method: 'POST',
    headers: { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' },
    body: body as never,
  });

describe.each(Object.entries(hostile))('a body of 8 MB of %s', (_name, body) => {
  test('is refused for its shape before it is parsed', () => {
    expect(body.length).toBeGreaterThan(bytes * 0.98);
    const refusal = readRequest('chat/completions', body);
    expect(refusal).toMatchObject({ status: 400, message: 'The body is made of too many parts' });
  });
});

test.each(Object.keys(hostile))(
  '60 bodies of %s at once take the event loop in small steps',
  async (name) => {
    const read = openLargeBodies();
    const delay = monitorEventLoopDelay({ resolution: 2 });
    delay.enable();
    let turns = 0;
    let counting = true;
    const count = () => {
      turns += 1;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    const reading = Array.from({ length: 60 }, () => read('chat/completions', hostile[name]!, () => false));
    for (const refusal of await Promise.all(reading)) expect(refusal).toMatchObject({ status: 400 });
    counting = false;
    delay.disable();
    // A busy machine delays single iterations by more, whatever runs in them.
    expect(delay.percentile(50) / 1e6).toBeLessThan(1_000);
    // Each body has iterations of its own.
    expect(turns).toBeGreaterThanOrEqual(60);
  },
  60_000,
);

test('concurrent large bodies are answered, or refused with 503 beyond the bound, while others are served', async () => {
  const body = new Uint8Array(hostile.numbers!);
  const sent = Array.from({ length: 12 }, async () => {
    const response = await post(body);
    await response.text();
    return response.status;
  });
  const small = '{"model":"gpt","messages":[{"role":"user","content":"hi"}]}';
  const others = Array.from({ length: 20 }, async () => (await post(small)).status);
  expect(await Promise.all(others)).toEqual(Array(20).fill(200));
  const statuses = await Promise.all(sent);
  expect(statuses).toContain(400);
  expect(statuses.filter((status) => status !== 400 && status !== 503)).toEqual([]);
});

test('waiting bodies are read one after the other, with an iteration between their steps', async () => {
  const read = openLargeBodies();
  let turns = 0;
  let counting = true;
  const count = () => {
    turns += 1;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const texts = Buffer.from(JSON.stringify({ model: 'gpt', messages: [], a: ' '.repeat(10) }).padEnd(bytes, ' '));
  const results = await Promise.all(Array.from({ length: 4 }, () => read('chat/completions', texts, () => false)));
  counting = false;
  expect(results.map((result) => 'model' in result && result.model)).toEqual(['gpt', 'gpt', 'gpt', 'gpt']);
  // Four times: 16 steps of half a megabyte, the parser, and the fields.
  expect(turns).toBeGreaterThanOrEqual(4 * 18);
});

test('reading stops when the client has disconnected', async () => {
  const read = openLargeBodies();
  let gone = false;
  const first = read('chat/completions', costly['a million numbers']!, () => false);
  const second = read('chat/completions', costly['a million numbers']!, () => gone);
  gone = true;
  expect(await second).toMatchObject({ status: 499 });
  expect(await first).toMatchObject({ model: 'gpt' });
});

describe('large valid bodies pass and are counted completely', () => {
  test.each(Object.entries(costly))('%s', async (_name, body) => {
    const wanted = readRequest('chat/completions', body);
    expect(wanted).toMatchObject({ model: 'gpt' });
    const read = openLargeBodies();
    expect(await read('chat/completions', body, () => false)).toEqual(wanted);
  });

  test('a picture of 8 MB as a data URL, with a chat of a thousand messages', async () => {
    const picture = `data:image/png;base64,${'iVBORw0KGgo'.repeat(700_000)}`;
    const messages: object[] = Array.from({ length: 1_000 }, (_, n) => ({ role: 'user', content: `Message ${n}` }));
    messages.push({ role: 'user', content: [{ type: 'image_url', image_url: { url: picture } }] });
    proxy.asked.length = 0;
    upstream.received.length = 0;
    const json = JSON.stringify({ model: 'gpt', messages, max_tokens: 5 });
    expect((await post(json)).status).toBe(200);
    expect(upstream.received[0]!.raw.equals(Buffer.from(json))).toBe(true);
    // The picture counts 765 tokens, each message four tokens and its text.
    const { tokens } = proxy.asked[0]!;
    expect(tokens).toBeGreaterThan(765 + 1_000 * 6);
    expect(tokens).toBeLessThan(765 + 1_000 * 12);
  });
});
