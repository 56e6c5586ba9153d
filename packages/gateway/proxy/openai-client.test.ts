import { delta, type FakeUpstream, openUpstream, sse, usage } from '@tradepost/testing/servers/upstream';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type OpenedProxy, openProxy, refused } from '../testing/proxy.ts';

/** The official client of OpenAI, with another base URL and no other change. */
let upstream: FakeUpstream;
let proxy: OpenedProxy;
beforeAll(async () => {
  upstream = await openUpstream();
  proxy = await openProxy({
    'gateway.upstreams': [{ name: 'main', base_url: upstream.url, api_key: 'sk-upstream', models: ['gpt-*', 'named'] }],
    'gateway.models': {
      fast: { model: 'gpt-small', max_output_tokens: 500 },
      secret: { hidden: true, model: 'gpt-x' },
    },
  });
});
afterAll(async () => {
  await proxy?.close();
  await upstream?.close();
});
beforeEach(async () => {
  upstream.received.length = 0;
  upstream.always(null);
  upstream.script();
  proxy.asked.length = 0;
  await proxy.database.sql`truncate gateway.usage`;
});

const messages = [{ role: 'user' as const, content: 'Say hello.' }];

test('chat: the answer arrives, the upstream receives its own key, and the usage is recorded', async () => {
  const { data, response, request_id } = await proxy
    .client()
    .chat.completions.create({ model: 'gpt-4o', messages })
    .withResponse();
  expect(data.choices[0]!.message.content).toBe('hello');
  const [got] = upstream.received;
  expect(got).toMatchObject({ method: 'POST', path: '/v1/chat/completions' });
  expect(got!.headers.authorization).toBe('Bearer sk-upstream');
  expect(Object.keys(got!.headers).filter((name) => name.startsWith('x-'))).toEqual(['x-tradepost-gateway']);
  const [row] = await proxy.rows();
  expect(row).toMatchObject({
    ...{ id: response.headers.get('x-request-id'), user_id: 3, token_id: 7, endpoint: 'chat/completions' },
    ...{ model: 'gpt-4o', upstream: 'main', upstream_model: 'gpt-4o', state: 'done', http_status: 200, attempts: 1 },
    ...{ input_tokens: 7, output_tokens: 5, usage_source: 'upstream', stream: false, max_output_tokens: 1024 },
  });
  expect(request_id).toBe(row.id);
});

test('an alias is another name of a model, charged by its configured maximum', async () => {
  await proxy.client().chat.completions.create({ model: 'fast', messages });
  expect(upstream.received[0]!.body.model).toBe('gpt-small');
  expect(proxy.asked[0]).toMatchObject({ model: 'fast', tokens: expect.any(Number) });
  const [row] = await proxy.rows();
  expect(row).toMatchObject({ model: 'fast', upstream_model: 'gpt-small', max_output_tokens: 500 });
  expect(proxy.asked[0]!.tokens).toBe(row.estimated_input_tokens + 500);
});

test('stream: every delta reaches the client before the upstream sends the next', async () => {
  const words = ['one ', 'two ', 'three ', 'four'];
  const taken = words.map(() => Promise.withResolvers<void>());
  upstream.script({
    chunks: [...words.map((word) => sse(delta(word))), sse({ ...delta(''), choices: [], usage }), sse('[DONE]')],
    // The upstream continues only when the client has received the last chunk. A buffering proxy would wait forever.
    gate: (index) => taken[index - 1]?.promise ?? Promise.resolve(),
  });
  const stream = await proxy.client().chat.completions.create({ model: 'gpt-4o', messages, stream: true });
  const got: string[] = [];
  for await (const event of stream) {
    const word = event.choices[0]?.delta.content;
    if (!word) continue;
    got.push(word);
    taken[got.length - 1]!.resolve();
  }
  expect(got).toEqual(words);
  expect((await proxy.rows())[0]).toMatchObject({ state: 'done', stream: true, input_tokens: 7, output_tokens: 5 });
});

test('a client that leaves a stream cancels the upstream, so unread output is not paid', async () => {
  upstream.script({ chunks: [sse(delta('one'))], ends: 'hang' });
  const stream = await proxy.client().chat.completions.create({ model: 'gpt-4o', messages, stream: true });
  for await (const _ of stream) break;
  await expect.poll(() => upstream.received[0]!.aborted).toBe(true);
  expect((await proxy.rows())[0]).toMatchObject({ state: 'cancelled', usage_source: 'estimated', output_tokens: 1 });
});

test('a client that leaves while it waits for the first byte cancels the upstream', async () => {
  upstream.script({ hang: true });
  const leaving = new AbortController();
  const call = proxy.client().chat.completions.create({ model: 'gpt-4o', messages }, { signal: leaving.signal });
  const left = expect(call).rejects.toThrow(OpenAI.APIUserAbortError);
  await expect.poll(() => upstream.received.length).toBe(1);
  leaving.abort();
  await left;
  await expect.poll(() => upstream.received[0]!.aborted).toBe(true);
  expect((await proxy.rows())[0]).toMatchObject({ state: 'cancelled', http_status: null });
});

test('embeddings: base64 vectors as the client requests them', async () => {
  const answer = await proxy.client().embeddings.create({ model: 'gpt-embed', input: ['a', 'b'] });
  expect(answer.data.map(({ embedding }) => embedding)).toEqual([
    [0.5, -0.25],
    [0.5, -0.25],
  ]);
  expect((await proxy.rows())[0]).toMatchObject({ max_output_tokens: 0, input_tokens: 3, output_tokens: 0 });
});

test('responses: complete and streamed', async () => {
  const client = proxy.client();
  const answer = await client.responses.create({ model: 'gpt-4o', input: 'hi', max_output_tokens: 50 });
  expect(answer.output_text).toBe('hello');
  const { output: _, ...response } = answer;
  const completed = {
    ...response,
    status: 'completed',
    usage: { input_tokens: 4, output_tokens: 6, total_tokens: 10 },
  };
  upstream.script({
    chunks: [
      `event: response.output_text.delta\n${sse({ type: 'response.output_text.delta', delta: 'hey' })}`,
      `event: response.completed\n${sse({ type: 'response.completed', response: completed })}`,
    ],
  });
  const stream = await client.responses.create({ model: 'gpt-4o', input: 'hi', stream: true });
  const types: string[] = [];
  for await (const event of stream) types.push(event.type);
  expect(types).toEqual(['response.output_text.delta', 'response.completed']);
  expect(await proxy.rows()).toMatchObject([
    { endpoint: 'responses', input_tokens: 9, output_tokens: 2, max_output_tokens: 50 },
    { endpoint: 'responses', input_tokens: 4, output_tokens: 6, stream: true, state: 'done' },
  ]);
});

test('models: named ones are listed; a hidden one is found but not listed', async () => {
  const client = proxy.client();
  const listed = (await client.models.list()).data.map(({ id }) => id);
  expect(listed.sort()).toEqual(['fast', 'named']);
  expect((await client.models.retrieve('secret')).id).toBe('secret');
  await expect(client.models.retrieve('nothing')).rejects.toThrow(OpenAI.NotFoundError);
});

test('the models of an upstream with patterns alone are read once a minute', async () => {
  const other = await openUpstream();
  const own = await openProxy({ 'gateway.upstreams': [{ name: 'all', base_url: other.url }] });
  try {
    for (let i = 0; i < 3; i += 1)
      expect((await own.client().models.list()).data.map(({ id }) => id)).toEqual(['listed-1']);
    expect(other.received.map(({ path }) => path)).toEqual(['/v1/models']);
  } finally {
    await own.close();
    await other.close();
  }
});

describe('refusals are the error classes of the client library', () => {
  const create = (more: object = {}, options: { apiKey?: string; maxRetries?: number } = {}) =>
    proxy.client(options).chat.completions.create({ model: 'gpt-4o', messages, ...more });

  test('the retry of the library waits as long as the 429 says', async () => {
    proxy.refuseNext(refused(300));
    const started = performance.now();
    const answer = await create({}, { maxRetries: 2 });
    expect(answer.choices[0]!.message.content).toBe('hello');
    expect(performance.now() - started).toBeGreaterThanOrEqual(300);
    expect(upstream.received.length).toBe(1);
    expect(proxy.asked.length).toBe(2);
    expect((await proxy.rows()).length).toBe(1);
  });

  test('429 names the dimension; a request that can never pass is not retried', async () => {
    proxy.refuseNext(refused(1_500));
    const error = await create().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    const { code, type, message, headers } = error as InstanceType<typeof OpenAI.RateLimitError>;
    expect({ code, type }).toEqual({ code: 'rate_limit_exceeded', type: 'rate_limit_exceeded' });
    expect(message).toBe('429 rate limit exceeded: user RPM');
    expect(headers!.get('retry-after')).toBe('2');
    expect(headers!.get('retry-after-ms')).toBe('1500');
    expect(headers!.get('x-ratelimit-remaining')).toBe('0');
    expect(headers!.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(headers!.get('x-ratelimit-reset-requests')).toBe('1.5s');
    expect(headers!.has('x-ratelimit-limit-tokens')).toBe(false);

    proxy.asked.length = 0;
    proxy.refuseNext({ ...refused(null), dimension: 'user_tpm', limit: 100 });
    const never = await create({}, { maxRetries: 3 }).catch((thrown: unknown) => thrown);
    expect((never as Error).message).toMatch(
      /^429 rate limit exceeded: user TPM \(the request costs \d{4} tokens, 1024 of them because it has no max_completion_tokens, the limit is 100 per minute\)$/,
    );
    // It is charged as one request, so it is limited too.
    expect(proxy.asked.map(({ tokens }) => tokens > 0)).toEqual([true, false]);
    expect(upstream.received.length).toBe(0);
    expect(await proxy.rows()).toEqual([]);
  });

  test('counting of a text stops above the limit, and the request is charged', async () => {
    await proxy.set({ 'ratelimit.user_default_tpm': 5_000 });
    try {
      const content = 'some words that go on and on '.repeat(20_000);
      proxy.refuseNext({ ...refused(null), dimension: 'user_tpm', limit: 5_000 });
      const never = await create({ messages: [{ role: 'user', content }] }, { maxRetries: 3 }).catch((e: unknown) => e);
      expect((never as Error).message).toBe(
        '429 rate limit exceeded: user TPM (the request costs more than 5000 tokens, 1024 of them because it has no max_completion_tokens, the limit is 5000 per minute)',
      );
      expect(proxy.asked).toMatchObject([{ model: 'gpt-4o' }, { model: null, tokens: 0 }]);
      expect(proxy.asked[0]!.tokens).toBeGreaterThan(5_000);
      expect(proxy.asked[0]!.tokens).toBeLessThan(5_500);
      // Without requests left, that is the refusal.
      proxy.refuseNext({ ...refused(null), dimension: 'user_tpm', limit: 5_000 }, refused(1_000));
      const out = await create({ messages: [{ role: 'user', content }] }).catch((e: unknown) => e);
      expect((out as Error).message).toBe('429 rate limit exceeded: user RPM');
      // Without its store the limiter admits the request, and usage has the whole cost.
      await create({ messages: [{ role: 'user', content }] });
      expect((await proxy.rows())[0].estimated_input_tokens).toBeGreaterThan(100_000);
    } finally {
      await proxy.set({ 'ratelimit.user_default_tpm': 100_000 });
    }
  });

  test('invalid keys: 401, charged to the address alone', async () => {
    for (const [apiKey, said] of [
      ['tp-unknown', 'Incorrect API key'],
      ['tp-revoked', 'revoked'],
      ['tp-expired', 'expired'],
      ['tp-disabled', 'disabled'],
    ] as const) {
      proxy.asked.length = 0;
      const error = await create({}, { apiKey }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
      expect((error as Error).message).toContain(said);
      expect(proxy.asked).toEqual([{ token: null, address: '127.0.0.1', model: null, tokens: 0 }]);
    }
  });

  test('unknown models, wrong fields', async () => {
    await expect(create({ model: 'claude' })).rejects.toThrow(OpenAI.NotFoundError);
    for (const [param, more] of Object.entries({
      max_tokens: { max_tokens: 1.5 },
      max_completion_tokens: { max_completion_tokens: 2 ** 31 },
      n: { n: 129 },
      stream: { stream: 'yes' },
      model: { model: 7 },
    })) {
      const error = await create(more).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(OpenAI.BadRequestError);
      expect(error).toMatchObject({ param, type: 'invalid_request_error' });
    }
    expect(upstream.received.length).toBe(0);
  });

  test('the refusal of an upstream is relayed unchanged', async () => {
    const error = { message: 'no such tool', type: 'invalid_request_error', code: 'bad_tool', param: 'tools' };
    upstream.script({ status: 400, body: { error }, headers: { 'x-request-id': 'up-1' } });
    const thrown = await create().catch((caught: unknown) => caught);
    expect(thrown).toBeInstanceOf(OpenAI.BadRequestError);
    expect(thrown).toMatchObject({ param: 'tools', code: 'bad_tool' });
    expect((thrown as InstanceType<typeof OpenAI.APIError>).headers!.get('x-upstream-request-id')).toBe('up-1');
    expect((await proxy.rows())[0]).toMatchObject({ state: 'failed', http_status: 400, output_tokens: null });
  });
});
