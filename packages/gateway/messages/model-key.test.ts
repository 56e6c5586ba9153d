import fc from 'fast-check';
import { expect, test } from 'vitest';
import { servedModels } from '../upstreams/served-models.ts';
import { modelKey } from './model-key.ts';

/** All spellings of a model name share one limit and one line in the usage. */
test.each([
  'gpt-4',
  'GPT-4',
  ' gpt-4 ',
  '\tGpt-4\n',
  '\u00a0gpt-4\u3000',
  'gpt-4/',
  'gpt-4 //',
  'ｇｐｔ－４',
  'gp\u1d57-4',
])('%j is gpt-4', (name) => {
  expect(modelKey(name)).toBe('gpt-4');
});

test('characters within a name are significant, and a run of blanks counts as one', () => {
  expect(modelKey('org/GPT-4')).toBe('org/gpt-4');
  expect(modelKey('/data/models/llama')).toBe('/data/models/llama');
  expect(modelKey('my \u3000 Model')).toBe('my model');
  expect(modelKey('gpt-4%20')).toBe('gpt-4%20');
  expect(modelKey('STRASSE')).toBe(modelKey('straße'));
  expect(modelKey('\u212aimi')).toBe('kimi');
  // A letter of another alphabet makes another name.
  expect(modelKey('gp\u0442-4')).not.toBe('gpt-4');
});

test.each([
  '',
  ' ',
  '/',
  ' // ',
  'gpt-4\0',
  'g\0pt',
  'gpt\u200b-4',
  'gpt\u00ad-4',
  'gpt-4\ufe0f',
  'a\nb',
  '\ud800',
  'a'.repeat(257),
  '\ufdfa'.repeat(20),
])('%j is not the name of a model', (name) => {
  expect(modelKey(name)).toBeNull();
});

test('the normal form of a normal form is itself', () => {
  const names = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.string());
  fc.assert(
    fc.property(names, (name) => {
      const key = modelKey(name);
      if (key !== null) expect(modelKey(key)).toBe(key);
    }),
    { numRuns: 3_000 },
  );
});

test('the normal form of each character is its own normal form', () => {
  const changed: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const key = modelKey(`a${String.fromCodePoint(code)}`);
    if (key !== null && modelKey(key) !== key) changed.push(code.toString(16));
  }
  expect(changed).toEqual([]);
});

test('an upstream receives the name of its configuration; a pattern keeps the written name', () => {
  const find = servedModels(['GPT-4', 'Qwen/*']);
  expect(find('gpt-4', 'gpt-4 ')).toBe('GPT-4');
  expect(find('qwen/qwen2.5-7b', 'Qwen/Qwen2.5-7B')).toBe('Qwen/Qwen2.5-7B');
  expect(find('gpt-4o', 'gpt-4o')).toBeNull();
});
