import type { AppError } from '@tradepost/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { amountInput, bit, id, idOrZero, text } from './fields.ts';
import { tolerantBody, tolerantQuery, zeroWhenEmpty } from './tolerant.ts';
import { parseOrRefuse } from './validate.ts';

/** Returns the value that the handler gets, or the text of the refusal. */
function taken(schema: z.ZodType, body: unknown): unknown {
  try {
    return parseOrRefuse(schema, tolerantBody(schema)(body), 'en', 'body');
  } catch (error) {
    return (error as AppError).messageIn('en');
  }
}

const repricing = z.object({ items: z.array(z.object({ item_id: id(), price: amountInput() })) });

describe('numbers as text in a body', () => {
  test.each([
    ['30', 30],
    ['30.00', 30],
    ['0.1', 0.1],
    [' 30 ', 30],
    ['+5', 5],
    ['007', 7],
    ['-0', -0],
  ])('%j is %j, also nested in lists and objects', (sent, value) => {
    expect(taken(z.object({ n: z.number() }), { n: sent })).toEqual({ n: value });
    expect(taken(z.object({ a: z.array(z.object({ b: z.array(z.number()) })) }), { a: [{ b: [sent, 1] }] })).toEqual({
      a: [{ b: [value, 1] }],
    });
    expect(taken(z.array(z.number()), [sent])).toEqual([value]);
    expect(taken(z.object({ of: z.record(z.string(), z.number()) }), { of: { any: sent } })).toEqual({
      of: { any: value },
    });
  });

  test.each([
    'abc',
    ' ',
    '1e3',
    '1e999',
    '9'.repeat(400),
    '0x10',
    '1,5',
    '1.',
    '.5',
    '--1',
    '1 2',
    'NaN',
    '-Infinity',
    'true',
    '３０',
    '1_000',
    '{}',
  ])('%j is no number, and the field is named', (sent) => {
    expect(taken(repricing, { items: [{ item_id: 1, price: sent }] })).toBe('items[0].price: must be a number');
    expect(taken(repricing, { items: [{ item_id: sent, price: 1 }] })).toMatch(/^items\[0\]\.item_id: must be a /);
    expect(taken(z.object({ ids: z.array(id()) }), { ids: [1, sent] })).toMatch(/^ids\[1\]: must be a /);
  });

  test('the number must satisfy the rules of the field', () => {
    const one = (schema: z.ZodType, sent: unknown) => taken(z.object({ n: schema }), { n: sent });
    expect(one(id(), '7')).toEqual({ n: 7 });
    expect(one(id(), '7.0')).toEqual({ n: 7 });
    expect(one(id(), '7.5')).toBe('n: must be a whole number');
    expect(one(id(), '0')).toBe('n: must be at least 1');
    expect(one(amountInput(), '-1')).toBe('n: must be at least 0');
    expect(one(id(), '9007199254740993')).toMatch(/^n: /);
    expect(one(bit(), '1')).toEqual({ n: 1 });
    expect(one(bit(), '2')).toMatch(/^n: /);
    expect(one(z.literal([1, 2]), '2')).toEqual({ n: 2 });
    expect(one(z.int().nullable().default(3), '4')).toEqual({ n: 4 });
  });

  test('an empty text means absent, null or 0; in a list it is refused', () => {
    expect(taken(z.object({ n: z.number().optional() }), { n: '' })).toEqual({});
    expect(taken(z.object({ n: z.number().nullable() }), { n: '' })).toEqual({ n: null });
    expect(taken(z.object({ n: zeroWhenEmpty(idOrZero().optional()) }), { n: '' })).toEqual({ n: 0 });
    expect(taken(z.object({ n: zeroWhenEmpty(idOrZero()) }).partial(), { n: '' })).toEqual({ n: 0 });
    expect(taken(z.object({ n: zeroWhenEmpty(idOrZero()).optional().describe('a count') }), { n: '' })).toEqual({
      n: 0,
    });
    expect(taken(z.object({ n: idOrZero() }).partial(), { n: '' })).toEqual({});
    expect(taken(z.object({ n: id() }), { n: '' })).toBe('n: is missing');
    expect(taken(z.object({ ids: z.array(id()) }), { ids: [''] })).toMatch(/^ids\[0\]: must be a /);
  });

  test('a text field keeps its text: phones, order numbers, unions with text, free values', () => {
    const schema = z.object({
      phone: text(20),
      either: z.union([z.number(), text(20)]),
      kind: z.enum(['1', '2']),
      literal: z.literal('1'),
      free: z.unknown(),
      texts: z.record(z.string(), text(20)),
    });
    const body = { phone: '013800', either: '030', kind: '1', literal: '1', free: { n: '1' }, texts: { a: '1' } };
    expect(taken(schema, body)).toEqual(body);
  });
});

describe('booleans as text or as 0 and 1 in a body', () => {
  test.each([
    ['true', true],
    ['1', true],
    [1, true],
    ['false', false],
    ['0', false],
    [0, false],
    [true, true],
  ])('%j is %j', (sent, value) => {
    expect(taken(z.object({ on: z.boolean() }), { on: sent })).toEqual({ on: value });
    expect(taken(z.object({ on: z.array(z.boolean()) }), { on: [sent] })).toEqual({ on: [value] });
  });

  test.each(['yes', 'TRUE', ' ', 2, '2', -1])('%j is refused, and the refusal names the field', (sent) => {
    expect(taken(z.object({ on: z.boolean() }), { on: sent })).toBe('on: must be true or false');
  });

  test('a number is read as a number where the schema accepts a number or a boolean', () => {
    const schema = z.object({ v: z.union([z.literal(0), z.literal(1), z.boolean()]) });
    expect(taken(schema, { v: '1' })).toEqual({ v: 1 });
    expect(taken(schema, { v: 0 })).toEqual({ v: 0 });
    expect(taken(schema, { v: 'true' })).toEqual({ v: true });
    expect(taken(schema, { v: 'on' })).toMatch(/^v: /);
  });
});

test('a query accepts the same numbers, also for literals', () => {
  const convert = tolerantQuery(
    z.object({ n: z.number(), b: bit(), word: text(9), none: z.number(), on: z.boolean() }),
  );
  expect(convert(new URLSearchParams('n=%2030.50%20&b=1&word=12&none=&on=false'))).toEqual({
    n: 30.5,
    b: 1,
    word: '12',
  });
});

test('a text of a megabyte for a number field is refused immediately', () => {
  const started = performance.now();
  for (const sent of [
    `${' '.repeat(500_000)}x${' '.repeat(500_000)}`,
    '1'.repeat(1_000_000),
    `${'1'.repeat(999_999)}x`,
  ])
    expect(taken(z.object({ n: z.number() }), { n: sent })).toBe('n: must be a number');
  expect(performance.now() - started).toBeLessThan(10_000);
});
