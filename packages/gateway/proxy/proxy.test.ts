import { setTimeout as sleep } from 'node:timers/promises';
import { type Behaviour, delta, type FakeUpstream, openUpstream, sse } from '@tradepost/testing/servers/upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { admitted, goodKey, type OpenedProxy, openProxy, refused } from '../testing/proxy.ts';
import { closeStale } from '../usage/usage-log.ts';
import { usageSummary } from '../usage/usage-summary-store.ts';
import { openModelList } from './model-list.ts';

/** The proxy between a plain HTTP client and upstreams that fail in many ways. */
let first: FakeUpstream;
let second: FakeUpstream;
let proxy: OpenedProxy;
const upstream = (name: string, at: FakeUpstream, more: object = {}) => ({
  name,
  base_url: at.url,
  api_key: `sk-${name}`,
  ...more,
});
beforeAll(async () => {
  [first, second] = await Promise.all([openUpstream(), openUpstream()]);
  proxy = await openProxy({ 'gateway.upstreams': [upstream('first', first)] });
});
afterAll(async () => {
  await proxy?.close();
  await Promise.all([first?.close(), second?.close()]);
});
let turn = 0;
/** Settings of one test. Upstreams have new names, so that no circuit of an earlier test is open. */
async function use(upstreams: readonly { name: string }[], models: object = {}, more: object = {}): Promise<string> {
  turn += 1;
  const renamed = upstreams.map((one) => ({ ...one, name: `${one.name}-${turn}` }));
  await proxy.set({ 'gateway.upstreams': renamed, 'gateway.models': models, 'gateway.retry_attempts': 3, ...more });
  return String(turn);
}
beforeEach(async () => {
  for (const one of [first, second]) {
    one.received.length = 0;
    one.always(null);
    one.script();
  }
  proxy.asked.length = 0;
  proxy.refuseNext();
  proxy.peekSays(null);
  await proxy.database.sql`truncate gateway.usage`;
  await use([upstream('first', first)]);
});

type Sent = { body?: string; headers?: Record<string, string>; method?: string; signal?: AbortSignal };
const send = (path: string, { body, headers = {}, method = 'POST', signal }: Sent = {}) =>
  fetch(proxy.url + path, {
    method,
    headers: { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
    ...(signal ? { signal } : {}),
  });
const chat = (more: object = {}, sent: Sent = {}) =>
  send('/v1/chat/completions', {
    body: JSON.stringify({ model: 'gpt', messages: [{ role: 'user', content: 'hi' }], ...more }),
    ...sent,
  });
// biome-ignore lint/suspicious/noExplicitAny: any JSON
const errorOf = async (response: Response): Promise<any> => ((await response.json()) as any).error;

describe('forwarding', () => {
  const odd =
    '{ "messages":[{"role":"user","content":"h\\u00e9\\ud83d\\ude00 \\"model\\":\\"x\\"","model":"inner"}],\n\t"temperature": 1.0e0, "seed":12345678901234567890, "new_field":{"model":["a",{"model":"b"}]}, "model" : "gpt" ,"z":null}';

  test('a body is forwarded byte for byte', async () => {
    expect((await send('/v1/chat/completions', { body: odd })).status).toBe(200);
    expect(first.received[0]!.raw.toString()).toBe(odd);
  });

  test('an alias changes only the name of the model', async () => {
    await use([upstream('first', first)], { gpt: { model: 'big "one"' } });
    expect((await send('/v1/chat/completions', { body: odd })).status).toBe(200);
    expect(first.received[0]!.raw.toString()).toBe(odd.replace('"model" : "gpt"', '"model" : "big \\"one\\""'));
  });

  test('the trace of a client reaches the model service', async () => {
    const id = '4bf92f3577b34da6a3ce929d0e0e4736';
    first.received.length = 0;
    await chat({}, { headers: { traceparent: `00-${id}-00f067aa0ba902b7-01` } });
    expect(first.received[0]!.headers.traceparent).toMatch(
      new RegExp(`^00-${id}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`),
    );
  });

  test('private headers of client and upstream are not forwarded', async () => {
    first.script({
      body: {},
      headers: {
        'set-cookie': 'a=b',
        'x-request-id': 'up-7',
        'openai-processing-ms': '12',
        'openai-organization': 'org-ours',
        'x-ratelimit-remaining-tokens': '5',
        connection: 'close',
      },
    });
    const headers = {
      cookie: 'session=1',
      'x-forwarded-for': '1.2.3.4',
      'openai-organization': 'org-theirs',
      'openai-beta': 'assistants=v2',
      'x-stainless-os': 'Linux',
    };
    const response = await chat({}, { headers });
    const got = first.received[0]!.headers;
    expect(got).toMatchObject({ 'openai-beta': 'assistants=v2', authorization: 'Bearer sk-first' });
    for (const name of ['cookie', 'x-forwarded-for', 'openai-organization', 'x-stainless-os'])
      expect(got).not.toHaveProperty(name);
    expect(response.headers.get('x-upstream-request-id')).toBe('up-7');
    expect(response.headers.get('openai-processing-ms')).toBe('12');
    expect(response.headers.get('x-ratelimit-limit')).toBe('100000');
    expect(response.headers.get('x-ratelimit-remaining')).toBe('99000');
    const reset = Number(response.headers.get('x-ratelimit-reset'));
    expect(reset - Date.now() / 1000).toBeGreaterThan(25);
    // The limits of the upstream are replaced by those of the gateway.
    expect(response.headers.get('x-ratelimit-remaining-tokens')).toBe('99000');
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('59');
    for (const name of ['set-cookie', 'openai-organization']) expect(response.headers.has(name)).toBe(false);
  });

  test('a client does not receive the answer to the idempotency key of another client', async () => {
    await chat({}, { headers: { 'idempotency-key': 'order-1' } });
    await chat({}, { headers: { 'idempotency-key': 'k'.repeat(5_000) } });
    await chat();
    const sent = first.received.map(({ headers }) => headers['idempotency-key']);
    expect(sent[0]).toBe('7-order-1');
    expect(sent[1]).toMatch(/^7-[\da-f]{64}$/);
    expect(sent[2]).toBeUndefined();
    for (const bad of ['', 'a b', 'clé-1']) {
      const refused = await chat({}, { headers: { 'idempotency-key': bad } });
      expect(refused.status).toBe(400);
      expect(await refused.text()).toContain('Idempotency-Key');
    }
    expect(first.received.length).toBe(3);
  });

  test('characters that are split over chunks arrive intact, and are counted when the upstream reports no usage', async () => {
    const bytes = Buffer.from(`${sse(delta('你好，'))}${sse(delta('世界 <|endoftext|>'))}${sse('[DONE]')}`);
    const chunks = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) => bytes.subarray(i * 7, i * 7 + 7));
    first.script({ chunks, gate: () => sleep(0) });
    const response = await chat({ stream: true });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    const [row] = await proxy.rows();
    expect(row).toMatchObject({ state: 'done', usage_source: 'estimated' });
    expect(row.output_tokens).toBeGreaterThanOrEqual(8);
    expect(row.output_tokens).toBeLessThanOrEqual(14);
    expect(row.input_tokens).toBe(row.estimated_input_tokens);
  });

  test('an answer larger than one packet', async () => {
    const text = '0123456789'.repeat(300_000);
    first.script({ body: { text } });
    const response = await chat();
    expect(response.headers.get('content-length')).toBe(String(text.length + 11));
    expect(((await response.json()) as { text: string }).text).toBe(text);
  });
});

describe('refusals without an upstream', () => {
  test('protocol errors have the status and the form that clients expect', async () => {
    const cases: [number, string, Promise<Response>][] = [
      [404, 'unknown_url', send('/v1/audio/speech', { body: '{}' })],
      [405, 'method_not_allowed', send('/v1/chat/completions', { method: 'GET' })],
      [405, 'method_not_allowed', send('/v1/models', { body: '{}' })],
      [415, 'unsupported_media_type', chat({}, { headers: { 'content-type': 'text/plain' } })],
      [413, 'body_too_large', send('/v1/chat/completions', { body: 'x'.repeat(1024 * 1024 + 1) })],
      [401, 'invalid_api_key', chat({}, { headers: { authorization: '' } })],
      [404, 'model_not_found', send('/v1/models/nothing', { method: 'GET' })],
    ];
    for (const [status, code, answer] of cases) {
      const response = await answer;
      expect(response.status, code).toBe(status);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      if (status !== 413) expect(response.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
      expect(await errorOf(response)).toMatchObject({ code, type: 'invalid_request_error' });
    }
    for (const body of ['{"model":', '[]', '"x"', 'null', '']) {
      const response = await send('/v1/chat/completions', { body });
      expect(response.status, body).toBe(400);
    }
    // Its models were read before.
    expect(first.received.map(({ method }) => method)).toEqual(['GET']);
    expect(await proxy.rows()).toEqual([]);
  });

  test('the application answers outside /v1', async () => {
    expect((await send('/chat/completions', { body: '{}' })).status).toBe(404);
    expect(await (await send('/anything', { method: 'GET' })).json()).toEqual({ code: 404 });
  });

  test('a browser may send requests from any origin', async () => {
    const response = await send('/v1/chat/completions', { method: 'OPTIONS' });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-headers')).toContain('Authorization');
    expect((await chat()).headers.get('access-control-expose-headers')).toContain('Retry-After');
  });

  test('an invalid request is charged as one request, so that it is limited too', async () => {
    proxy.refuseNext(refused(1_000));
    const response = await send('/v1/chat/completions', { body: '{"model":1}' });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(proxy.asked).toMatchObject([{ token: { id: 7 }, model: null, tokens: 0 }]);
  });

  test('a deeply nested body is answered 400 and charged', async () => {
    const nested = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    for (const field of ['tools', 'functions', 'response_format', 'text', 'messages', 'anything', 'metadata']) {
      proxy.asked.length = 0;
      const response = await send('/v1/chat/completions', { body: `{"model":"gpt","${field}":${nested}}` });
      expect(response.status, field).toBe(400);
      expect((await errorOf(response)).message).toContain('nested too deeply');
      expect(proxy.asked).toMatchObject([{ model: null, tokens: 0 }]);
    }
    expect(first.received.length).toBe(0);
  });

  test('an address without requests left causes no queries for keys', async () => {
    proxy.queriedKeys.length = 0;
    proxy.peekSays({ ...refused(2_000), dimension: 'ip_rpm' });
    const headers = { authorization: 'Bearer tp-unknown' };
    const response = await chat({}, { headers });
    expect([response.status, (await errorOf(response)).message]).toEqual([429, 'rate limit exceeded: ip RPM']);
    expect(proxy.queriedKeys).toEqual([]);
    expect(proxy.asked).toEqual([]);
    proxy.peekSays(null);
    expect((await chat({}, { headers })).status).toBe(401);
    expect(proxy.queriedKeys).toEqual(['tp-unknown']);
  });

  test('a loop is detected at once, direct and through another gateway', async () => {
    const loop = await use([{ name: 'self', base_url: `${proxy.url}/v1`, api_key: goodKey } as { name: string }]);
    const response = await chat();
    expect(response.status).toBe(508);
    expect(await errorOf(response)).toMatchObject({ code: 'loop_detected', type: 'server_error' });
    // The first request and its first return, which was charged as a request without tokens.
    expect(proxy.asked.map(({ tokens }) => tokens > 0)).toEqual([true, false]);
    expect(proxy.upstreams.state()[0]).toMatchObject({ name: `self-${loop}`, failures: 1 });
    expect((await send('/v1/models', { method: 'GET' })).status).toBe(200);

    const between = await openProxy({
      'gateway.upstreams': [{ name: 'back', base_url: `${proxy.url}/v1`, api_key: goodKey }],
    });
    try {
      await use([{ name: 'far', base_url: `${between.url}/v1`, api_key: goodKey } as { name: string }]);
      const far = await chat();
      expect([far.status, (await errorOf(far)).code]).toEqual([508, 'loop_detected']);
      expect(between.asked.length).toBe(1);
    } finally {
      await between.close();
    }
  });

  test('without an upstream: 503, and nothing is charged', async () => {
    await use([]);
    const response = await chat();
    expect(response.status).toBe(503);
    expect((await errorOf(response)).code).toBe('no_upstream');
    expect(proxy.asked).toEqual([]);
  });

  test('several answers are each charged with the maximum', async () => {
    await chat({ max_tokens: 100, n: 3 });
    await send('/v1/completions', { body: JSON.stringify({ model: 'gpt', prompt: ['a', 'b'], max_tokens: 10 }) });
    const rows = await proxy.rows();
    expect(rows.map((row) => row.max_output_tokens)).toEqual([300, 20]);
    const too = await chat({ max_tokens: 2 ** 31 - 1 });
    expect(too.status).toBe(400);
    expect((await errorOf(too)).param).toBe('max_tokens');
  });
});

describe('a failing upstream', () => {
  const both = (more: object = {}) =>
    use([upstream('first', first, { priority: 1, ...more }), upstream('second', second, { priority: 2, ...more })]);

  test('before its first byte: the next upstream answers', async () => {
    const cases: Behaviour[] = [
      { status: 500, body: { error: { message: 'no' } } },
      { status: 503, body: 'busy' },
      { status: 429, body: {}, headers: { 'retry-after': '1' } },
      { status: 401, body: { error: { message: 'Incorrect API key provided: sk-first' } } },
      { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } },
      { reset: true },
      { hang: true },
    ];
    for (const behaviour of cases) {
      await both({ first_byte_timeout_ms: 300 });
      first.always(behaviour);
      second.received.length = 0;
      const response = await chat();
      expect(response.status, JSON.stringify(behaviour)).toBe(200);
      expect(second.received.length).toBe(1);
    }
    const rows = await proxy.rows();
    expect(rows.map((row) => [row.attempts, row.upstream.split('-')[0], row.state])).toEqual(
      cases.map(() => [2, 'second', 'done']),
    );
  });

  test('upstreams are tried by priority, or in the order of the model', async () => {
    await use([upstream('first', first, { priority: 5 }), upstream('second', second, { priority: -5 })]);
    await chat();
    expect([first.received.length, second.received.length]).toEqual([0, 1]);
    const id = turn + 1;
    await use([upstream('first', first, { priority: 5 }), upstream('second', second, { priority: -5 })], {
      mine: { upstreams: [`first-${id}`, `second-${id}`] },
    });
    await chat({ model: 'mine' });
    expect([first.received.length, second.received.length]).toEqual([1, 1]);
  });

  test('a refusal of the request itself is not retried', async () => {
    await both();
    first.script({ status: 422, body: { error: { message: 'bad' } } });
    expect((await chat()).status).toBe(422);
    expect(second.received.length).toBe(0);
  });

  test('when all upstreams fail the last answer is relayed', async () => {
    await both();
    first.always({ status: 500, body: {} });
    second.always({ status: 429, body: { error: { message: 'slow down' } }, headers: { 'retry-after': '17' } });
    const response = await chat();
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('17');
    expect((await errorOf(response)).message).toBe('slow down');
    expect((await proxy.rows())[0]).toMatchObject({ state: 'failed', http_status: 429, attempts: 2 });
  });

  test('no answer is 502, a late answer 504, and a refused key of the gateway is not the fault of the client', async () => {
    await use([upstream('gone', first, { base_url: 'http://127.0.0.1:1/v1' })]);
    const gone = await chat();
    expect([gone.status, (await errorOf(gone)).type]).toEqual([502, 'upstream_error']);
    await use([upstream('first', first, { first_byte_timeout_ms: 100 })]);
    first.always({ hang: true });
    const late = await chat();
    expect([late.status, (await errorOf(late)).code]).toEqual([504, 'upstream_timeout']);
    await expect.poll(() => first.received.every(({ aborted }) => aborted)).toBe(true);
    first.always({ status: 401, body: { error: { message: 'Incorrect API key provided: sk-first' } } });
    await use([upstream('first', first)]);
    const denied = await chat();
    expect(denied.status).toBe(502);
    expect(JSON.stringify(await denied.json())).not.toContain('sk-first');
  });

  test('an upstream can be tried several times, within the attempts of the request', async () => {
    await both({ max_attempts: 2 });
    first.always({ status: 500, body: {} });
    second.always({ status: 500, body: {} });
    expect((await chat()).status).toBe(500);
    expect([first.received.length, second.received.length]).toEqual([2, 1]);
  });

  test('a kept connection that turns out to be closed is not a failure', async () => {
    await use([upstream('first', first)]);
    await chat();
    first.script({ reset: true });
    expect((await chat()).status).toBe(200);
    expect(proxy.upstreams.state()[0]!.failures).toBe(0);
    // The request was sent twice, and an upstream can have received both.
    expect((await proxy.rows())[1]).toMatchObject({ attempts: 2, state: 'done' });
    expect(first.received.length).toBe(3);
    // With one allowed attempt there is no second one.
    await use([upstream('first', first)], {}, { 'gateway.retry_attempts': 1 });
    await chat();
    first.script({ reset: true });
    expect((await chat()).status).toBe(502);
  });

  test('three failures open the circuit, then one request is a trial', async () => {
    await both();
    first.always({ status: 500, body: {} });
    for (let i = 0; i < 3; i += 1) await chat();
    expect(proxy.upstreams.state()[0]).toMatchObject({ state: 'resting', failures: 3 });
    await chat();
    expect(first.received.length).toBe(3);
    first.always(null);
    await expect.poll(() => proxy.upstreams.state()[0]!.state, { timeout: 5_000 }).toBe('probing');
    await chat();
    expect(first.received.length).toBe(4);
    expect(proxy.upstreams.state()[0]).toMatchObject({ state: 'up', failures: 0 });
    expect(JSON.stringify(proxy.upstreams.state())).not.toContain('sk-');
  });

  test('within its stream: the client receives an error event, and nothing is retried', async () => {
    await both({ idle_timeout_ms: 300 });
    for (const [ends, code] of [
      ['reset', 'upstream_error'],
      ['hang', 'upstream_timeout'],
    ] as const) {
      first.script({ chunks: [sse(delta('one')), 'data: {"half'], gate: () => sleep(5), ends });
      const text = await (await chat({ stream: true })).text();
      expect(text.startsWith(sse(delta('one')))).toBe(true);
      const last = text.trim().split('\n\n').pop()!;
      expect(JSON.parse(last.slice('data: '.length)).error).toMatchObject({ code });
    }
    expect(second.received.length).toBe(0);
    expect(
      (await proxy.rows()).map(({ state, http_status, output_tokens }) => [state, http_status, output_tokens]),
    ).toEqual([
      ['failed', 200, 1],
      ['failed', 200, 1],
    ]);
  });
});

test('a client that does not read pauses the upstream and takes bounded memory', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  chunk.write('data: ');
  chunk.write('\n\n', chunk.length - 2);
  const total = 96;
  let sent = 0;
  // The gateway paused the upstream, so the idle time-out does not apply.
  await use([upstream('first', first, { idle_timeout_ms: 1_000 })]);
  first.script({
    chunks: Array.from({ length: total }, () => chunk),
    async gate(index) {
      sent = index;
    },
  });
  const response = await chat({ stream: true });
  let before = -1;
  // Until no more bytes arrive.
  while (before !== sent) {
    before = sent;
    await sleep(700);
  }
  expect(sent).toBeLessThan(total / 2);
  expect((await response.arrayBuffer()).byteLength).toBe(total * chunk.length);
  expect((await proxy.rows())[0]).toMatchObject({ state: 'done' });
});

describe('usage records', () => {
  test('no byte of an answer is sent before its row is committed', async () => {
    first.script({ chunks: [sse(delta('one')), sse('[DONE]')] });
    const { sql } = proxy.database;
    const answered: string[] = [];
    let call: Promise<Response> | undefined;
    await sql.begin(async (tx) => {
      await tx`lock table gateway.usage in exclusive mode`;
      call = chat({ stream: true });
      void call.then(() => answered.push('answer'));
      await expect.poll(() => first.received.length).toBe(1);
      await sleep(300);
      expect(answered).toEqual([]);
    });
    expect(await (await call!).text()).toContain('one');
    expect((await proxy.rows()).length).toBe(1);
  });

  test('a row that cannot be written: 503, and the upstream is cancelled, before and after it began to answer', async () => {
    first.script({ chunks: [sse(delta('one'))], ends: 'hang' }, { hang: true });
    const { sql } = proxy.database;
    await sql.begin(async (tx) => {
      await tx`lock table gateway.usage in exclusive mode`;
      // The statements of the gateway time out after two seconds.
      const calls = [chat({ stream: true }), chat()];
      for (const response of await Promise.all(calls)) {
        expect(response.status).toBe(503);
        expect((await errorOf(response)).code).toBe('usage_not_recorded');
      }
      await expect.poll(() => first.received.map(({ aborted }) => aborted)).toEqual([true, true]);
    });
    expect(await proxy.rows()).toEqual([]);
  });

  test('a request that ends before its row is written is inserted as ended', async () => {
    const { sql } = proxy.database;
    const calls: Promise<Response>[] = [];
    await sql.begin(async (tx) => {
      await tx`lock table gateway.usage in exclusive mode`;
      // The first rows wait in three transactions, the others in the queue.
      for (let i = 0; i < 8; i += 1) {
        calls.push(chat());
        await sleep(40);
      }
      await expect.poll(() => first.received.length).toBe(8);
      await sleep(50);
    });
    for (const response of await Promise.all(calls)) expect(response.status).toBe(200);
    // Some ends are written later by an update, others with the insert of their rows.
    const rows = await sql`select state, output_tokens from gateway.usage where state = 'done'`;
    expect(rows.length).toBeGreaterThanOrEqual(3);
    expect((await proxy.rows()).map((row) => [row.state, row.output_tokens])).toEqual(Array(8).fill(['done', 5]));
  });

  test('concurrent requests each have a row with their own end', async () => {
    first.script(
      ...Array.from({ length: 60 }, (_, i) => ({ body: { usage: { prompt_tokens: 1, completion_tokens: i } } })),
    );
    const answers = await Promise.all(Array.from({ length: 60 }, () => chat().then((response) => response.json())));
    const said = answers.map((answer) => (answer as { usage: { completion_tokens: number } }).usage.completion_tokens);
    const rows = await proxy.rows();
    expect(rows.map((row) => row.output_tokens).sort((a, b) => a - b)).toEqual(said.sort((a, b) => a - b));
    expect(rows.every((row) => row.state === 'done' && row.ended_at !== null && row.duration_ms >= 0)).toBe(true);
  });

  test('rows of a dead process are closed after a day; sums are by user, token, model and day', async () => {
    const { sql } = proxy.database;
    await chat();
    await chat({ model: 'other' });
    await proxy.rows();
    const insert = (hours: number) => sql`
      insert into gateway.usage (id, user_id, token_id, endpoint, model, state, estimated_input_tokens, max_output_tokens, started_at)
      values (gen_random_uuid(), 4, 8, 'embeddings', 'e', 'open', 5, 0, now() - make_interval(hours => ${hours}))`;
    await insert(25);
    await insert(23);
    await closeStale(proxy.runtime);
    const states = await sql`select state from gateway.usage where user_id = 4 order by started_at`;
    expect(states.map(({ state }) => state)).toEqual(['failed', 'open']);
    const span = {
      from: new Date(Date.now() - 3 * 86_400_000),
      to: new Date(Date.now() + 1_000),
      zone: 'UTC',
      limit: 10,
      offset: 0,
    };
    const byUser = await usageSummary(sql, { ...span, by: 'user' });
    expect(byUser).toMatchObject({
      total: 2,
      rows: [
        { key: '3', requests: 2, failed: 0, input_tokens: 14, output_tokens: 10 },
        { key: '4', requests: 2, failed: 1, open: 1, charged_tokens: 10, input_tokens: 0 },
      ],
    });
    expect((await usageSummary(sql, { ...span, by: 'model' })).rows.map(({ key }) => key)).toEqual([
      'gpt',
      'other',
      'e',
    ]);
    expect((await usageSummary(sql, { ...span, by: 'token', limit: 1, offset: 5 })).total).toBe(2);
    expect((await usageSummary(sql, { ...span, by: 'day' })).rows[0]!.key).toBe(new Date().toISOString().slice(0, 10));
  });
});

test('changed settings apply at once: requests go to the new upstream, a stream of the old one can end', async () => {
  const goOn = Promise.withResolvers<void>();
  first.script({ chunks: [sse(delta('one')), sse('[DONE]')], gate: () => goOn.promise });
  const running = await chat({ stream: true });
  await use([upstream('second', second)]);
  await chat();
  expect(second.received.length).toBe(1);
  goOn.resolve();
  expect(await running.text()).toContain('[DONE]');
});

test('settings that change during the check of the limiter apply to the request', async () => {
  const verdict = Promise.withResolvers<typeof admitted>();
  proxy.refuseNext(verdict.promise);
  const call = chat();
  await expect.poll(() => proxy.asked.length).toBe(1);
  await use([upstream('second', second)]);
  // The next request closes the old upstream.
  expect(proxy.upstreams.state().length).toBe(1);
  verdict.resolve(admitted);
  expect((await call).status).toBe(200);
  expect([first.received.length, second.received.length]).toEqual([0, 1]);
});

test('the list of models: a silent upstream has a deadline, an open circuit is skipped, earlier lists stay', async () => {
  await use([upstream('first', first, { priority: 1 }), upstream('second', second, { priority: 2 })]);
  const own = proxy.upstreams;
  const models = openModelList(own, { deadlineMs: 1_000, cachedMs: 0 });
  const list = async () => (await models.list('me')).data.map(({ id }) => id).sort();
  const listed = (id: string): Behaviour => ({ body: { data: [{ id }] } });
  first.always(listed('a'));
  second.always({ hang: true });
  expect(await list()).toEqual(['a']);
  await expect.poll(() => second.received[0]!.aborted).toBe(true);
  second.always(listed('b'));
  expect(await list()).toEqual(['a', 'b']);
  first.always({ hang: true });
  expect(await list()).toEqual(['a', 'b']);
  const before = first.received.length;
  own.enabled()[0]!.circuit.pause(performance.now(), 60_000);
  expect(await list()).toEqual(['a', 'b']);
  expect(first.received.length).toBe(before);
});

test('a stopped gateway leaves no open rows: the streams that it cuts off are counted', async () => {
  const own = await openProxy({ 'gateway.upstreams': [upstream('first', first)] });
  // Words that are not cached, so counting them takes many iterations of the event loop.
  const words = Array.from({ length: 100_000 }, (_, i) => `w${((i * 7919) % 99_991).toString(36)}q`);
  first.script({ chunks: [sse(delta(words.join(' ')))], ends: 'hang' }, { hang: true });
  const stream = await own.client().chat.completions.create({ model: 'm', messages: [], stream: true });
  const waiting = own.client().chat.completions.create({ model: 'm', messages: [] });
  waiting.catch(() => {});
  await stream[Symbol.asyncIterator]().next();
  await expect.poll(() => first.received.length).toBe(2);
  let rows: unknown[] = [];
  await own.close(async ({ sql }) => {
    rows = [...(await sql`select state, output_tokens from gateway.usage order by output_tokens`)];
  });
  expect(rows).toEqual([
    { state: 'cancelled', output_tokens: expect.any(Number) },
    { state: 'cancelled', output_tokens: null },
  ]);
});

test('on node:http streams are unbuffered as well, and cancelled with the client', async () => {
  const own = await openProxy({ 'gateway.upstreams': [upstream('first', first)] }, { transport: 'node' });
  try {
    const taken = Promise.withResolvers<void>();
    first.script({ chunks: [sse(delta('one')), sse(delta('two'))], gate: () => taken.promise, ends: 'hang' });
    const stream = await own.client().chat.completions.create({ model: 'm', messages: [], stream: true });
    const got: unknown[] = [];
    for await (const event of stream) {
      got.push(event.choices[0]!.delta.content);
      taken.resolve();
      if (got.length === 2) break;
    }
    expect(got).toEqual(['one', 'two']);
    await expect.poll(() => first.received[0]!.aborted).toBe(true);
    first.script({ hang: true });
    const leaving = new AbortController();
    const call = own.client().chat.completions.create({ model: 'm', messages: [] }, { signal: leaving.signal });
    call.catch(() => {});
    await expect.poll(() => first.received.length).toBe(2);
    leaving.abort();
    await expect.poll(() => first.received[1]!.aborted).toBe(true);
  } finally {
    await own.close();
  }
});
