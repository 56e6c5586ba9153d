import { setTimeout as sleep } from 'node:timers/promises';
import { openTraceCollector, type TraceCollector } from '@tradepost/testing/servers/trace-collector';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type OtlpOptions, openOtlpRecorder } from './otlp-recorder.ts';
import { inBatchTrace, inCall, inTrace, type Operation, recordSpans } from './spans.ts';
import { currentTrace, traceHeaders } from './trace.ts';

const caller = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', id: '00f067aa0ba902b7' };
const given = `00-${caller.traceId}-${caller.id}-01`;
const request: Operation<unknown> = { kind: 'server', name: 'GET /things' };
const call: Operation<unknown> = { kind: 'client', name: 'GET partner' };

let collector: TraceCollector;
const ends: (() => unknown)[] = [];
beforeEach(async () => {
  collector = await openTraceCollector();
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await collector.close();
});

function record(more: Partial<OtlpOptions> = {}) {
  const counted = { exported: 0, dropped: 0, failed: 0 };
  const count = (result: keyof typeof counted) => (spans: number) => {
    counted[result] += spans;
  };
  const recorder = openOtlpRecorder({
    ...{ endpoint: `${collector.url}/base/`, headers: { 'x-key': 'a b' }, ratio: 1, resource: { 'service.name': 's' } },
    counts: { exported: count('exported'), dropped: count('dropped'), failed: count('failed') },
    ...more,
  });
  const stop = recordSpans(recorder);
  ends.push(stop);
  return { counted, close: recorder.close };
}

test('a request, its calls and its log lines are one trace; an error marks its span, without its message', async () => {
  const { close, counted } = record();
  let inside: string | undefined;
  const failing = inTrace(given, request, async () => {
    inside = currentTrace()?.id;
    const headers = await inCall(call, async () => traceHeaders().traceparent);
    throw Object.assign(new Error(`secret ${headers}`), { code: 'ECONNREFUSED' });
  });
  const error = await failing.catch((thrown: Error) => thrown.message);
  await close();
  const [client, server] = collector.spans;
  expect(inside).toBe(caller.traceId);
  expect(server).toMatchObject({ traceId: caller.traceId, parentId: caller.id, name: 'GET /things', kind: 'server' });
  expect(server).toMatchObject({ failed: true, attributes: { 'error.type': 'ECONNREFUSED' } });
  expect(client).toMatchObject({ traceId: caller.traceId, parentId: server!.id, kind: 'client', failed: false });
  expect(error).toBe(`secret 00-${caller.traceId}-${client!.id}-01`);
  expect(JSON.stringify(collector.spans)).not.toContain('secret');
  expect(collector.requests).toMatchObject([{ path: '/base/v1/traces', headers: { 'x-key': 'a b' } }]);
  expect(counted).toEqual({ exported: 2, dropped: 0, failed: 0 });
});

test('a caller decides whether its trace is recorded, and the share decides about new traces', async () => {
  const { close } = record({ ratio: 0.25 });
  const flags = () => traceHeaders().traceparent.slice(-2);
  expect(inTrace(given.replace(/01$/, '00'), request, flags)).toBe('00');
  expect(collector.spans).toEqual([]);
  const isRecorded = Array.from({ length: 1_000 }, () => inTrace(null, request, flags) === '01');
  await close();
  const recorded = isRecorded.filter(Boolean).length;
  expect(collector.spans.length).toBe(recorded);
  expect(recorded).toBeGreaterThan(150);
  expect(recorded).toBeLessThan(350);
});

test('a batch of several requests has a link to each recorded one, whatever the share of new traces', async () => {
  const { close } = record({ ratio: 0 });
  const batch: Operation<unknown> = { kind: 'internal', name: 'commit things' };
  const traces = [given, given.replace('4bf92f', '5bf92f'), null].map((header) =>
    inTrace(header, request, () => ({ trace: currentTrace() })),
  );
  inBatchTrace(batch, traces, () => {});
  inBatchTrace(batch, traces.slice(0, 1), () => {});
  inBatchTrace(batch, traces.slice(2), () => expect(traceHeaders().traceparent).toMatch(/-00$/));
  await close();
  const [first, second, several, single] = collector.spans;
  expect(several).toMatchObject({ name: 'commit things', parentId: '', links: [first!.id, second!.id] });
  expect(single).toMatchObject({ traceId: caller.traceId, parentId: first!.id, links: [] });
  expect(collector.spans).toHaveLength(4);
});

test('while the collector does not answer, at most 2,048 spans wait; the others are dropped and counted', async () => {
  collector.answers(() => {});
  const { close, counted } = record();
  for (let n = 0; n < 5_000; n += 1) inTrace(null, request, () => {});
  expect(counted.dropped).toBe(5_000 - 2_048);
  const closing = close();
  await sleep(100);
  await collector.close();
  await closing.catch(() => {});
  await expect.poll(() => counted).toEqual({ exported: 0, dropped: 5_000 - 2_048, failed: 2_048 });
});
