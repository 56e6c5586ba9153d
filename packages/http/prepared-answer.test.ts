import { expect, test } from 'vitest';
import { namesEtag, PreparedAnswer } from './prepared-answer.ts';
import { defineRoute } from './routing/route.ts';
import { nothing } from './validation/fields.ts';

test.each([
  ['"a"', true],
  ['W/"a"', true],
  ['*', true],
  [' * ', true],
  ['"b", "a"', true],
  ['"b",W/"a"', true],
  ['"b"', false],
  ['a', false],
  ['"ab"', false],
  ['"b, a"', false],
  ['', false],
  [null, false],
])('If-None-Match %j names the ETag "a": %j', (header, expected) => {
  expect(namesEtag(header, '"a"')).toBe(expected);
});

test('a long If-None-Match is read in linear time', () => {
  const began = performance.now();
  for (const header of [`"${'a'.repeat(60_000)}`, 'W/'.repeat(30_000), '"'.repeat(60_001), '"",'.repeat(20_000)])
    expect(namesEtag(header, '"a"')).toBe(false);
  expect(performance.now() - began).toBeLessThan(2_000);
});

test('answers with different data have different ETags, and the same data has the same one', () => {
  const etags = [{ a: 1 }, { a: 2 }, { a: 1 }].map((data) => new PreparedAnswer(data).etag);
  expect(etags[0]).toMatch(/^"[\w-]{20,}"$/);
  expect([etags[0] === etags[1], etags[0] === etags[2]]).toEqual([false, true]);
});

test('only a GET has an ETag', () => {
  const route = { path: '/x', auth: 'public', tag: 'Test', summary: 'x', response: nothing, etag: true } as const;
  expect(() => defineRoute({ ...route, method: 'POST', handle: () => null })).toThrow('needs GET');
});
