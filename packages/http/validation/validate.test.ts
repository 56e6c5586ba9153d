import { AppError } from '@tradepost/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseOrRefuse } from './validate.ts';

const schema = z.object({
  name: z.string().min(1).max(5),
  qty: z.int().min(1).max(9),
  tags: z.array(z.string()).min(1).max(2),
  kind: z.enum(['return', 'exchange']),
  one: z.literal(1),
  phone: z.string().regex(/^1\d{10}$/),
  on: z.boolean(),
  days: z.union([z.literal(1), z.literal(7)]),
  parts: z.union([z.string(), z.array(z.string())]),
});
const good = {
  name: 'Ann',
  qty: 2,
  tags: ['a'],
  kind: 'return',
  one: 1,
  phone: '13800000000',
  on: true,
  days: 7,
  parts: [],
};

function refusal(change: object, locale: 'en' | 'zh-CN'): string {
  try {
    parseOrRefuse(schema, { ...good, ...change }, locale, 'body');
    return 'accepted';
  } catch (error) {
    return (error as AppError).messageIn(locale);
  }
}

describe('an error names the invalid field and says in the language of the caller what it must be', () => {
  test.each([
    [{ name: undefined }, 'name: is missing', 'name: 缺少'],
    [{ name: '' }, 'name: must not be empty', 'name: 不能为空'],
    [{ name: 'Hannah' }, 'name: must have at most 5 characters', 'name: 最多 5 个字符'],
    [{ name: 7 }, 'name: must be a text', 'name: 须为文本'],
    [{ qty: 'many' }, 'qty: must be a number', 'qty: 须为数字'],
    [{ qty: 1.5 }, 'qty: must be a whole number', 'qty: 须为整数'],
    [{ qty: 0 }, 'qty: must be at least 1', 'qty: 不能小于 1'],
    [{ qty: 10 }, 'qty: must be at most 9', 'qty: 不能大于 9'],
    [{ tags: 'a' }, 'tags: must be a list', 'tags: 须为列表'],
    [{ tags: [] }, 'tags: must not be empty', 'tags: 不能为空'],
    [{ tags: ['a', 'b', 'c'] }, 'tags: must have at most 2 entries', 'tags: 最多 2 项'],
    [{ tags: [1] }, 'tags[0]: must be a text', 'tags[0]: 须为文本'],
    [{ kind: 'refund' }, 'kind: must be one of return, exchange', 'kind: 须为以下之一：return, exchange'],
    [{ one: 2 }, 'one: must be 1', 'one: 须为 1'],
    [{ phone: '1' }, 'phone: does not have the expected form', 'phone: 格式不正确'],
    [{ days: 5 }, 'days: must be one of 1, 7', 'days: 须为以下之一：1, 7'],
    [{ parts: 5 }, 'parts: does not have the expected form', 'parts: 格式不正确'],
    [{ on: 'perhaps' }, 'on: must be true or false', 'on: 须为true 或 false'],
  ])('%j', (change, english, chinese) => {
    expect([refusal(change, 'en'), refusal(change, 'zh-CN')]).toEqual([english, chinese]);
  });

  test('several invalid fields, and a body that is not an object', () => {
    expect(refusal({ name: '', qty: 0 }, 'en')).toBe('name: must not be empty; qty: must be at least 1');
    expect(() => parseOrRefuse(schema, 'text', 'en', 'body')).toThrow(AppError);
    expect(refusal({}, 'en')).toBe('accepted');
  });
});
