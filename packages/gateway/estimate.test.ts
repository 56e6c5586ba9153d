import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { countTokens as countWhole } from 'gpt-tokenizer/encoding/o200k_base';
import { beforeAll, expect, test } from 'vitest';
import { readRequest } from './chat-request.ts';
import { countTokens, loadTokenizer } from './estimate.ts';

beforeAll(async () => {
  await loadTokenizer();
});

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const english = read('../inventory/README.md');
const code = read('../http/uws-transport.ts');
const errors = read('../inventory/errors.ts');
const chinese = ['inventory', 'orders', 'identity', 'catalog']
  .flatMap((name) => [...read(`../${name}/errors.ts`).matchAll(/'zh-CN': '([^']+)'/g)].map(([, text]) => text))
  .join('。');
const json = JSON.stringify(
  [...errors.matchAll(/(\w+): \{\s*code: (\d+)/g)].map(([, name, id]) => ({ name, id, ok: true })),
);
const plain = { disallowedSpecial: new Set<string>() };

test('pieces are counted as the whole is: at least 0.98 and at most 1.1 of it, in English, Chinese, code and JSON', async () => {
  const texts = { english, code, chinese, json, pretty: JSON.stringify(JSON.parse(json), null, 2) };
  for (const [name, text] of Object.entries(texts)) {
    expect(text.length, name).toBeGreaterThan(1_000);
    const part = fc.tuple(fc.nat(text.length - 1), fc.integer({ min: 1, max: 6_000 }));
    await fc.assert(
      fc.asyncProperty(part, async ([from, length]) => {
        const some = text.slice(from, from + length);
        const counted = await countTokens([some]);
        const whole = countWhole(some, plain);
        // One token more or less of a short text is more than a hundredth.
        expect(counted, name).toBeGreaterThanOrEqual(Math.floor(whole * 0.98) - 1);
        expect(counted, name).toBeLessThanOrEqual(Math.ceil(whole * 1.1) + 1);
      }),
      { numRuns: 60 },
    );
  }
});

test('any text has a count, whatever it holds: broken Unicode, special tokens, no blank at all', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 2_000 }), async (text) => {
      const counted = await countTokens([text, `${text}<|endoftext|>`]);
      expect(Number.isSafeInteger(counted)).toBe(true);
    }),
    { numRuns: 50 },
  );
  expect(await countTokens(['<|endoftext|>'])).toBeGreaterThan(3);
  expect(await countTokens(['\u{1f600}'.repeat(300)])).toBeGreaterThanOrEqual(300);
});

test('a short prompt is counted at once; a long one gives everybody else a turn', async () => {
  expect(typeof countTokens(['Say hello in one word.'])).toBe('number');
  const huge = `${'a'.repeat(64_000)}${chinese.replace(/\s/g, '').repeat(10)}${english.repeat(60)}`;
  const counting = countTokens([huge]);
  expect(counting).toBeInstanceOf(Promise);
  let turns = 0;
  let running = true;
  const turn = () => {
    turns += 1;
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  const counted = await counting;
  running = false;
  expect(turns).toBeGreaterThan(5);
  expect(counted).toBeGreaterThan(100_000);
});

const asked = (endpoint: 'chat/completions' | 'embeddings' | 'responses', body: object) => {
  const read = readRequest(endpoint, { model: 'm', ...body });
  if ('status' in read) throw new Error(read.message);
  return read;
};

test('everything that a model reads is counted: parts, tools, calls, names', () => {
  const { texts, extraTokens } = asked('chat/completions', {
    messages: [
      { role: 'system', content: 'rules', name: 'boss' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(9_000)}` } },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'A'.repeat(9_000), format: 'wav' } },
        ],
      },
      {
        role: 'assistant',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{"q":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'found' },
    ],
    tools: [{ type: 'function', function: { name: 'find', description: 'finds', parameters: {} } }],
  });
  const joined = texts.join('\n');
  for (const text of ['rules', 'boss', 'look', 'find', '{"q":1}', 'found', 'finds', 'system'])
    expect(joined).toContain(text);
  expect(joined).not.toContain('AAAA');
  // Four messages, the answer's frame, a picture, a small one, a sound.
  expect(extraTokens).toBe(4 * 4 + 3 + 765 + 85 + 600);
});

test('lists of tokens count as many as they are; a picture in an unknown place is no text', () => {
  expect(asked('embeddings', { input: [1, 2, 3] }).extraTokens).toBe(3);
  expect(asked('embeddings', { input: [[1, 2], [3]] }).extraTokens).toBe(3);
  expect(asked('embeddings', { input: ['a', 'b'] }).texts).toEqual(['a', 'b']);
  const output = { type: 'computer_screenshot', image_url: `data:image/png;base64,${'A'.repeat(9_000)}` };
  const { texts } = asked('responses', { input: [{ type: 'computer_call_output', output }], instructions: 'be kind' });
  expect(texts).toEqual(['be kind']);
});

test('nesting has an end: deeper is refused, not counted in part', () => {
  let nested: unknown = 'deep';
  for (let i = 0; i < 100_000; i += 1) nested = [nested];
  expect(readRequest('chat/completions', { model: 'm', messages: nested })).toMatchObject({ status: 400 });
});
