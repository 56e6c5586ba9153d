import { expect, test } from 'vitest';
import { shapeFault } from './json-shape.ts';

const of = (text: string) => shapeFault(Buffer.from(text));

test('ordinary bodies pass, in any format', () => {
  const messages = Array.from({ length: 5_000 }, (_, i) => ({ role: 'user', content: `"[{\\ ${i} \\\\` }));
  expect(of(JSON.stringify({ model: 'm', messages }))).toBeNull();
  expect(of(JSON.stringify({ input: Array(1_000_000).fill(12) }))).toBeNull();
  expect(of(`{"a":"${'[{'.repeat(100_000)}"}`)).toBeNull();
  expect(of(`{"a":"${'\\\\'.repeat(1_000)}","b":[${'\\"'.repeat(500)}`)).toBeNull();
  expect(of(`{"a":${'['.repeat(99)}${']'.repeat(99)}}`)).toBeNull();
});

test('deep nesting and too many values are refused', () => {
  expect(of(`{"a":${'['.repeat(100)}${']'.repeat(100)}}`)).toBe('too_deep');
  expect(of('['.repeat(4_000_000))).toBe('too_deep');
  expect(of(`{"a":[${'{},'.repeat(60_000)}{}]}`)).toBe('too_many');
  expect(of(`{${Array.from({ length: 200_001 }, (_, i) => `"${i}":""`).join()}}`)).toBe('too_many');
});

test('an unfinished text passes to the parser', () => {
  expect(of(`{"a":"${'x'.repeat(200)}`)).toBeNull();
  expect(of(`{"a":"${'x'.repeat(200)}\\"`)).toBeNull();
});
