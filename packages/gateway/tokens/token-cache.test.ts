import { expect, test } from 'vitest';
import { type CachedToken, openTokenCache } from './token-cache.ts';

const entry = (id: number, userId: number, isActive = true): CachedToken => ({
  token: { id, userId, rpmLimit: null, tpmLimit: null, userRpmLimit: null, userTpmLimit: null, expiresAt: null },
  isRevoked: false,
  isActive,
  graceUntil: null,
  usedAt: 0,
});

test('never holds more than its limit: the oldest entry is evicted', () => {
  const cache = openTokenCache(3);
  for (let n = 1; n <= 100; n += 1) cache.put(`d${n}`, entry(n, n % 5));
  expect(cache.size).toBe(3);
  expect(['d97', 'd98', 'd99', 'd100'].map((digest) => cache.get(digest)?.token.id)).toEqual([undefined, 98, 99, 100]);
});

test('an entry that is put again replaces itself and evicts no other', () => {
  const cache = openTokenCache(2);
  cache.put('a', entry(1, 1));
  cache.put('b', entry(2, 2));
  cache.put('b', entry(2, 2, false));
  expect([cache.get('a')?.token.id, cache.get('b')?.isActive]).toEqual([1, false]);
});

test('invalidates both secrets of a token, all tokens of a user, and no others', () => {
  const cache = openTokenCache(10);
  for (const [digest, id, user] of [
    ['a', 1, 1],
    ['a-before', 1, 1],
    ['b', 2, 1],
    ['c', 3, 2],
    ['d', 4, 2],
    ['e', 5, 3],
  ] as const)
    cache.put(digest, entry(id, user));
  const left = () => ['a', 'a-before', 'b', 'c', 'd', 'e'].filter((digest) => cache.get(digest));
  cache.invalidate({ tokens: [1, 99] });
  expect(left()).toEqual(['b', 'c', 'd', 'e']);
  cache.invalidate({ users: [2, 99] });
  expect(left()).toEqual(['b', 'e']);
  cache.invalidate({});
  expect([left(), cache.size]).toEqual([['b', 'e'], 2]);
});
