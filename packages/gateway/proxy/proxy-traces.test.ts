import { setTimeout as sleep } from 'node:timers/promises';
import { openTraceCollector, type TraceCollector } from '@tradepost/testing/servers/trace-collector';
import { delta, type FakeUpstream, openUpstream, sse } from '@tradepost/testing/servers/upstream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { goodKey, type OpenedProxy, openProxy } from '../testing/proxy.ts';

/** Of a request to the gateway an operator sees which upstream took how long, and nothing of its content or keys. */
let collector: TraceCollector;
let model: FakeUpstream;
let proxy: OpenedProxy;
beforeAll(async () => {
  [collector, model] = await Promise.all([openTraceCollector(), openUpstream()]);
  const upstreams = [{ name: 'first', base_url: model.url, api_key: 'sk-secret', max_attempts: 2 }];
  proxy = await openProxy(
    { 'gateway.upstreams': upstreams, 'gateway.retry_attempts': 2 },
    { flags: { otlpEndpoint: collector.url }, version: '1.2.3' },
  );
});
afterAll(async () => {
  await proxy?.close();
  await Promise.all([model?.close(), collector?.close()]);
});

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const chat = (stream: boolean) =>
  fetch(`${proxy.url}/v1/chat/completions?note=private`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' },
      traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
    },
    body: JSON.stringify({ model: 'gpt', stream, messages: [{ role: 'user', content: 'a private text' }] }),
  });
const collected = async (count: number) => {
  // Not those of the group commit of usage rows.
  const spans = () => collector.spans.filter(({ kind }) => kind !== 'internal');
  await expect.poll(() => spans().length, { timeout: 20_000 }).toBe(count);
  const found = spans();
  collector.spans.length = 0;
  return found;
};

test('each attempt at an upstream is a span, whose id the upstream gets', async () => {
  model.received.length = 0;
  model.script({ status: 500, body: {} }, { body: { id: 'x', choices: [] } });
  expect((await chat(false)).status).toBe(200);
  const [failed, done, server] = await collected(3);
  expect(server).toMatchObject({ kind: 'server', name: 'POST /v1/chat/completions', failed: false });
  expect(server).toMatchObject({ traceId, parentId: '00f067aa0ba902b7', resource: { 'service.version': '1.2.3' } });
  expect(failed).toMatchObject({ kind: 'client', name: 'POST first', failed: true, parentId: server!.id });
  expect(done).toMatchObject({
    failed: false,
    attributes: { 'http.response.status_code': 200, 'peer.service': 'first' },
  });
  expect(model.received.map(({ headers }) => headers.traceparent)).toEqual(
    [failed, done].map((span) => `00-${traceId}-${span!.id}-01`),
  );
  expect(JSON.stringify([failed, done, server])).not.toMatch(/secret|private|tp-good/);
});

test('the span of a streamed answer of an upstream ends with the stream', async () => {
  model.script({ chunks: [sse(delta('a')), sse('[DONE]')], gate: () => sleep(200) });
  expect(await (await chat(true)).text()).toContain('[DONE]');
  const spans = await collected(2);
  const client = spans.find(({ kind }) => kind === 'client')!;
  expect(client.ms).toBeGreaterThan(150);
  expect(client.failed).toBe(false);
});
