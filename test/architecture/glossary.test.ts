import { expect, test } from 'vitest';
import { compareCounts, countTree, countWords, entries, grownWords, readAllowed } from './glossary.ts';

test('no folder uses a word of the old vocabulary more often than is allowed', () => {
  expect(compareCounts(countTree(), readAllowed()).risen).toEqual([]);
});

test('a word is found in identifiers, file names, comments and sentences', () => {
  expect(countWords('const stockKeeper = openKeeper(); // packages/x/obey-keeper.ts')).toEqual({ keeper: 3, obey: 1 });
  expect(countWords('The pieces are given\n * back. giveBack() GIVE_BACK')).toEqual({ 'give back': 3 });
  expect(countWords('The client takes\n// over; take-over')).toEqual({ 'take over': 2 });
});

test('a longer word that contains one of them is not found', () => {
  expect(countWords('indeed, storyteller, unfated, dearth, clients, believe, notebooks, takeover')).toEqual({});
});

test('every word has a term to use instead', () => {
  expect(new Set(entries.map(({ word }) => word)).size).toBe(entries.length);
  for (const { word, instead } of entries) {
    expect(instead, word).not.toBe('');
    expect(countWords(instead), word).toEqual({});
  }
});

test('a count above its allowance is a fault; for a count below it the allowance can be lowered', () => {
  const allowed = { 'packages/orders': { keeper: 2 }, test: { deed: 5 } };
  expect(compareCounts({ 'packages/orders': { keeper: 3 }, test: { deed: 5 } }, allowed)).toEqual({
    risen: ['packages/orders: "keeper" occurs 3 times, 2 are allowed: write stock owner'],
    fallen: [],
  });
  expect(compareCounts({ test: { deed: 4 } }, allowed)).toEqual({
    risen: [],
    fallen: [
      'test: "deed" occurs 4 times, 5 are allowed: lower it',
      'packages/orders: "keeper" occurs 0 times, 2 are allowed: lower it',
    ],
  });
  expect(compareCounts({ 'packages/new': { fate: 1 } }, allowed).risen).toHaveLength(1);
});

test('a file may move to another folder with its words, but the tree may not gain any', () => {
  const allowed = { 'packages/cli': { deed: 2 } };
  expect(grownWords({ 'packages/orders': { deed: 2 } }, allowed)).toEqual([]);
  expect(grownWords({ 'packages/cli': { deed: 2 }, 'packages/orders': { deed: 1 } }, allowed)).toEqual(['deed']);
});
