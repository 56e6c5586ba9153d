import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { loadTokenizer } from '../messages/estimate.ts';
import { measureAnswer, openUsageReader } from './usage-reader.ts';

beforeAll(async () => {
  await loadTokenizer();
});

const event = (data: unknown, end = '\n\n') => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}${end}`;
const delta = (content: string, more: object = {}) => ({ choices: [{ index: 0, delta: { content } }], ...more });

async function measure(bytes: Buffer, cuts: readonly number[]) {
  const reader = openUsageReader();
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    reader.read(bytes.subarray(from, Math.max(from, cut)));
    from = Math.max(from, cut);
  }
  reader.read(bytes.subarray(from));
  return reader.measure();
}

test('usage is found wherever the bytes are split, with both line ends, and after a usage of null', async () => {
  const usage = { prompt_tokens: 11, completion_tokens: 22 };
  for (const end of ['\n\n', '\r\n\r\n']) {
    const stream = [
      event(delta('你好 "usage":{"prompt_tokens":1}', { usage: null }), end),
      `: keep-alive${end}`,
      event({ choices: [], usage }, end),
      event('[DONE]', end),
    ];
    const bytes = Buffer.from(stream.join(''));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
        expect(await measure(bytes, cuts)).toEqual({ tokens: { input: 11, output: 22 }, source: 'upstream' });
      }),
      { numRuns: 60 },
    );
  }
});

test('the responses API reports usage in its last event', async () => {
  const response = { object: 'response', output: [], usage: { input_tokens: 5, output_tokens: 6 } };
  const text = `event: response.completed\n${event({ type: 'response.completed', response })}`;
  expect(await measure(Buffer.from(text), [])).toMatchObject({ tokens: { input: 5, output: 6 } });
});

test('without usage the text is counted, in bounded memory', async () => {
  const reader = openUsageReader();
  const chunk = Buffer.from(event(delta('hello world ')).repeat(100));
  for (let i = 0; i < 200; i += 1) reader.read(chunk);
  // Neither an unfinished line nor a line over the bound is kept.
  for (let i = 0; i < 300; i += 1) reader.read(Buffer.alloc(16_384, 'x'));
  const { tokens, source } = await reader.measure();
  expect(source).toBe('estimated');
  expect(tokens.output).toBeGreaterThanOrEqual(40_000);
  expect(tokens.output).toBeLessThanOrEqual(62_000);
});

test('a stream that is faster than the counting has the tokens of its text, without keeping the text', async () => {
  const reader = openUsageReader();
  const piece = Buffer.from(event(delta('hello world '.repeat(5_000))));
  const pieces = 400;
  for (let i = 0; i < pieces; i += 1) reader.read(piece);
  const { tokens } = await reader.measure();
  // Two tokens for each pair of words; a piece that is cut may have one more.
  const expected = pieces * 5_000 * 2;
  expect(tokens.output).toBeGreaterThan(expected * 0.98);
  expect(tokens.output).toBeLessThan(expected * 1.02);
});

test('a complete answer: an impossible usage is ignored', async () => {
  const answer = (usage: unknown) =>
    measureAnswer(Buffer.from(JSON.stringify({ choices: [{ message: { content: 'one two' } }], usage })));
  expect(await answer({ prompt_tokens: 1, total_tokens: 1 })).toMatchObject({ tokens: { input: 1, output: 0 } });
  for (const usage of [null, 'x', { prompt_tokens: -1 }, { completion_tokens: 1e300 }, {}])
    expect(await answer(usage)).toEqual({ tokens: { input: null, output: 2 }, source: 'estimated' });
  expect(await measureAnswer(Buffer.from('no json'))).toMatchObject({ tokens: { output: 0 }, source: 'estimated' });
});

test('the usage of a large answer is found', () => {
  const vectors = '0.123456789,'.repeat(500_000);
  const usage = '"usage" : {"prompt_tokens":8,"details":{"a":1},"total_tokens":8}';
  for (const body of [`{${usage},"data":[${vectors}0]}`, `{"text":"\\"usage\\":{","data":[${vectors}0],${usage}}`])
    expect(measureAnswer(Buffer.from(body))).toEqual({ tokens: { input: 8, output: 0 }, source: 'upstream' });
});
