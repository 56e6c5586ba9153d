import { readFileSync } from 'node:fs';
import { setImmediate as nextRound } from 'node:timers/promises';
import fc from 'fast-check';
import { countTokens as countWhole } from 'gpt-tokenizer/encoding/o200k_base';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Endpoint, readRequest } from './chat-request.ts';
import { countTokens, loadTokenizer } from './estimate.ts';

beforeAll(async () => {
  await loadTokenizer();
});

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const english = read('../../../docs/OPERATIONS.md');
const code = read('../../http/transports/uws/uws-transport.ts');
const errors = read('../../inventory/errors.ts') + read('../../external-wms/errors.ts');
const chinese = ['inventory', 'external-wms', 'orders', 'identity', 'catalog']
  .flatMap((name) => [...read(`../../${name}/errors.ts`).matchAll(/'zh-CN': '([^']+)'/g)].map(([, text]) => text))
  .join('。');
const json = JSON.stringify(
  [...errors.matchAll(/(\w+): \{\s*code: (\d+)/g)].map(([, name, id]) => ({ name, id, ok: true })),
);
const plain = { disallowedSpecial: new Set<string>() };

test('the count in pieces is 0.98 to 1.1 of the whole, in English, Chinese, code and JSON', async () => {
  const texts = { english, code, chinese, json, pretty: JSON.stringify(JSON.parse(json), null, 2) };
  for (const [name, text] of Object.entries(texts)) {
    expect(text.length, name).toBeGreaterThan(1_000);
    const part = fc.tuple(fc.nat(text.length - 1), fc.integer({ min: 1, max: 6_000 }));
    await fc.assert(
      fc.asyncProperty(part, async ([from, length]) => {
        const some = text.slice(from, from + length);
        const counted = await countTokens([some]);
        const whole = countWhole(some, plain);
        // For a short text one token is more than 1 %.
        expect(counted, name).toBeGreaterThanOrEqual(Math.floor(whole * 0.98) - 1);
        expect(counted, name).toBeLessThanOrEqual(Math.ceil(whole * 1.1) + 1);
      }),
      { numRuns: 60 },
    );
  }
});

test('any text can be counted: broken Unicode, special tokens, no blanks', async () => {
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

test('a short prompt is counted at once; a long one lets other work run', async () => {
  // Earlier counts have had their iteration.
  await nextRound();
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

describe('many counts at once', () => {
  afterEach(() => void vi.restoreAllMocks());

  test('many long texts take one share of an iteration together, and short texts do not wait', async () => {
    // The clock advances with each reading, so the time of an iteration is the number of readings.
    let time = 0;
    let inRound = 0;
    let most = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => {
      inRound += 1;
      most = Math.max(most, inRound);
      time += 1;
      return time;
    });
    let running = true;
    let atOnce = 0;
    const round = () => {
      inRound = 0;
      if (typeof countTokens(['Say hello in one word.']) === 'number') atOnce += 1;
      if (running) setImmediate(round);
    };
    setImmediate(round);
    const texts = Array.from({ length: 20 }, (_, i) => `${i} ${english.slice(0, 6_000)} ${chinese.slice(0, 1_000)}`);
    const counts = await Promise.all(texts.map((text) => countTokens([text])));
    running = false;
    expect(most).toBeLessThan(15);
    expect(atOnce).toBeGreaterThan(10);
    vi.restoreAllMocks();
    for (const [i, text] of texts.entries()) expect(counts[i]).toBe(await countTokens([text]));
  });

  test('counting stops above the given maximum', async () => {
    const text = english.repeat(20);
    const whole = await countTokens([text]);
    const partly = await countTokens([text], 1_000);
    expect(whole).toBeGreaterThan(10_000);
    expect(partly).toBeGreaterThan(1_000);
    expect(partly).toBeLessThan(1_500);
    expect(await countTokens([text], whole)).toBe(whole);
    expect(countTokens([text], -1)).toBe(0);
  });
});

const bytes = (body: unknown) => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
const asked = (endpoint: Endpoint, body: object) => {
  const read = readRequest(endpoint, bytes({ model: 'm', ...body }));
  if ('status' in read) throw new Error(read.message);
  return read;
};
const words = 'please count every one of these words';
const read64 = (body: object, endpoint: Endpoint = 'chat/completions') => asked(endpoint, body).texts.join('\n');

test('all input of a model is counted: parts, tools, calls, names', () => {
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
  // Four messages, the frame of the answer, a picture, a small picture, an audio.
  expect(extraTokens).toBe(4 * 4 + 3 + 765 + 85 + 600);
});

test('lists of token numbers count by their length; a picture in an unknown field is not text', () => {
  expect(asked('embeddings', { input: [1, 2, 3] }).extraTokens).toBe(3);
  expect(asked('embeddings', { input: [[1, 2], [3]] }).extraTokens).toBe(3);
  expect(asked('embeddings', { input: ['a', 'b'] }).texts).toEqual(['a', 'b']);
  const output = { type: 'computer_screenshot', image_url: `data:image/png;base64,${'A'.repeat(9_000)}` };
  const { texts } = asked('responses', { input: [{ type: 'computer_call_output', output }], instructions: 'be kind' });
  expect(texts).toEqual(['be kind']);
});

test('deep nesting is refused everywhere, not counted in part', () => {
  const nested = `${'['.repeat(100_000)}"deep"${']'.repeat(100_000)}`;
  for (const field of ['messages', 'tools', 'functions', 'response_format', 'text', 'unknown', 'metadata'])
    expect(readRequest('chat/completions', bytes(`{"model":"m","${field}":${nested}}`))).toMatchObject({
      status: 400,
      message: expect.stringContaining('deep'),
    });
  const deep = `${'['.repeat(99)}"deep"${']'.repeat(99)}`;
  expect(readRequest('chat/completions', bytes(`{"model":"m","tools":${deep}}`))).toHaveProperty('texts');
});

describe('a text is counted', () => {
  const inline = `data:a/b;base64,${words}`;
  const fake = `data:a/b;base64,${'word'.repeat(2_000)}`;

  test('in a field for media, outside a media part', () => {
    for (const text of [inline, fake])
      for (const messages of [
        [{ role: 'user', content: text }],
        [{ role: 'user', content: [{ type: 'text', text }] }],
        [{ role: 'user', content: [{ type: 'text', text: 'x', url: text, data: text }] }],
        [{ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: text } }] }],
        [{ role: 'user', content: [{ type: 'image_url', text, image_url: { url: 'https://example.com/a.png' } }] }],
      ])
        expect(read64({ messages })).toContain(text);
    for (const body of [{ input: inline }, { input: [{ type: 'function_call_output', output: inline }] }])
      expect(read64(body, 'responses')).toContain(inline);
    expect(read64({ prompt: inline }, 'completions')).toContain(inline);
    // The field is for media, the value is not.
    const part = (url: string) => ({ messages: [{ content: [{ type: 'image_url', image_url: { url } }] }] });
    expect(read64(part(inline))).toContain(words);
    expect(read64(part(words))).toContain(words);
    expect(read64(part(fake))).not.toContain('wordword');
  });

  test('in a message whose type is media', () => {
    for (const type of ['input_audio', 'file', 'image_url', 'input_image', 'reasoning', 'image_generation_call']) {
      expect(read64({ messages: [{ role: 'user', type, content: words }] })).toContain(words);
      expect(read64({ messages: [{ role: 'user', type, content: [{ type, text: words }] }] })).toContain(words);
      expect(read64({ input: [{ role: 'user', type, content: words }] }, 'responses')).toContain(words);
    }
  });

  test('in an identifier field, or as a field name', () => {
    const long = words.repeat(10);
    expect(read64({ messages: [{ role: 'user', id: long, content: 'x' }] })).toContain(long);
    expect(read64({ messages: [{ role: 'user', cache_control: { text: words }, content: 'x' }] })).toContain(words);
    expect(read64({ messages: [{ role: 'user', content: { [long]: 1 } }] })).toContain(long);
    expect(read64({ messages: [{ tool_calls: [{ function: { arguments: { [words]: 1 } } }] }] })).toContain(words);
    expect(read64({ prompt: [[words]] }, 'completions')).toContain(words);
  });

  test('in an unknown top-level field', () => {
    for (const field of ['documents', 'prompt', 'input', 'system', 'guided_json', 'chat_template_kwargs', 'prediction'])
      for (const value of [words, [words], { [words]: true }]) {
        if (field === 'prediction' && typeof value === 'object') continue;
        expect(read64({ messages: [], [field]: value }), field).toContain(words);
      }
    const metadata = { tenant: words };
    expect(read64({ messages: [], metadata, user: words, stop: [words], tool_choice: { [words]: 1 } })).toBe('');
  });
});

test('embedded media: a file by its size, encrypted reasoning as a fixed number', () => {
  const base64 = (size: number) => Buffer.alloc(size, 7).toString('base64');
  const file = (size: number) =>
    asked('chat/completions', {
      messages: [{ content: [{ type: 'file', file: { file_data: `data:application/pdf;base64,${base64(size)}` } }] }],
    });
  expect(file(3_000)).toMatchObject({ texts: [], extraTokens: 3 + 4 + 1_500 });
  expect(file(300_000).extraTokens).toBe(3 + 4 + 75_000);
  const input = [
    { type: 'input_file', file_data: base64(300_000) },
    { type: 'image_generation_call', id: 'i', result: base64(9_000) },
    { type: 'reasoning', encrypted_content: base64(9_000), summary: [{ type: 'summary_text', text: words }] },
  ];
  expect(asked('responses', { input })).toMatchObject({
    texts: [words],
    extraTokens: 3 + 3 * 4 + 75_000 + 765 + 1_000,
  });
});

test('the largest output, by any name that an upstream reads', () => {
  for (const field of ['max_tokens', 'max_completion_tokens', 'n_predict', 'max_new_tokens', 'max_output_tokens'])
    for (const endpoint of ['chat/completions', 'completions', 'responses'] as const)
      expect(asked(endpoint, { max_tokens: 10, [field]: 70_000 }).maxOutput, field).toBe(70_000);
  expect(asked('chat/completions', { n: 2, best_of: 5 }).answers).toBe(5);
  expect(readRequest('chat/completions', bytes({ model: 'm', n_predict: -1 }))).toMatchObject({ param: 'n_predict' });
  expect(asked('completions', { prompt: [1, 2, 3] }).answers).toBe(1);
  expect(asked('completions', { prompt: [1, 'a', 'b'] }).answers).toBe(3);
});

test('a field that an upstream could read differently is refused by its name', () => {
  for (const [field, json] of [
    ['MAX_TOKENS', '{"model":"m","max_tokens":1,"MAX_TOKENS":90000}'],
    ['maxTokens', '{"model":"m","maxTokens":90000}'],
    ['Messages', '{"model":"m","messages":[],"Messages":[{"content":"long"}]}'],
    ['Model', '{"Model":"expensive","model":"m"}'],
    ['meſſages', '{"model":"m","meſſages":[]}'],
    ['max_to\u212aens', '{"model":"m","max_to\\u212aens":9}'],
    ['Stream', '{"model":"m","Stream":true}'],
    ['model', '{"model":"expensive","messages":[],"model":"m"}'],
    ['messages', '{"model":"m","messages":["long"],"mess\\u0061ges":[]}'],
    ['max_tokens', '{"model":"m","max_tokens":90000,"max_tokens":1}'],
  ] as const)
    expect(readRequest('chat/completions', bytes(json)), json).toMatchObject({ status: 400, param: field });
  // Names of nested fields are not checked.
  const body =
    '{"model":"m","messages":[{"role":"user","Model":1,"content":"\\"model\\":1,"}],"metadata":{"Model":"a"}}';
  expect(readRequest('chat/completions', bytes(body))).toHaveProperty('texts');
  const many = JSON.stringify({
    model: 'm',
    ...Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`f${i}`, 0])),
  });
  expect(readRequest('chat/completions', bytes(many))).toMatchObject({ status: 400 });
});
