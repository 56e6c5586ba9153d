import { expect, test } from 'vitest';
import { openLog } from './log.ts';
import { currentTrace, traceHeaders, traceOf, withTrace } from './trace.ts';

const id = '4bf92f3577b34da6a3ce929d0e0e4736';
const given = `00-${id}-00f067aa0ba902b7-01`;
const newTrace = /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/;

test('a call to another service belongs to the trace of its request, as a child of its own', () => {
  const [first, second] = withTrace(traceOf(given), () => [traceHeaders().traceparent, traceHeaders().traceparent]);
  expect(first).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-01$`));
  expect(new Set([first, second, given]).size).toBe(3);
});

test('a header of a later version is understood; of its flags only "sampled" is passed on', () => {
  expect(traceOf(`cc-${id}-00f067aa0ba902b7-03-more`).header()).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-01$`));
  expect(traceOf(`00-${id}-00f067aa0ba902b7-02`).header()).toMatch(/-00$/);
});

test.each([
  null,
  undefined,
  '',
  `ff-${id}-00f067aa0ba902b7-01`,
  `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  `00-${id}-${'0'.repeat(16)}-01`,
  `00-${id.toUpperCase()}-00f067aa0ba902b7-01`,
  `${given}-more`,
  `${given}, ${given}`,
  `00-${id}-00f067aa0ba902b7`,
  `01-${id}-00f067aa0ba902b7-01-${'x'.repeat(300)}`,
])('an invalid header begins a new trace: %s', (header) => {
  const trace = traceOf(header);
  expect(trace.header()).toMatch(newTrace);
  expect(trace.id).not.toBe(id);
  expect(trace.id).toBe(trace.id);
});

test('log lines of a request have its trace_id, also after a wait, and other lines have none', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = openLog({ level: 'info', stream: { write: (line: string) => lines.push(JSON.parse(line)) } });
  await withTrace(traceOf(given), async () => {
    await new Promise((resolve) => setImmediate(resolve));
    log.child({ task: 'x' }).info('inside');
  });
  log.info('outside');
  expect(lines.map(({ trace_id }) => trace_id)).toEqual([id, undefined]);
  expect(currentTrace()).toBeNull();
  expect(traceHeaders().traceparent).toMatch(newTrace);
});
