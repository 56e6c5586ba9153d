import { maxMinor, toWire } from '@tradepost/core';
import {
  amount,
  amountInput,
  bit,
  id,
  lineText,
  pageQueryWith,
  text,
  timestamp,
  trimmedText,
  zeroWhenEmpty,
} from '@tradepost/http';
import { z } from 'zod';
import { maxCount, maxDescription, maxName, maxSend } from '../limits.ts';
import { couponTypes, stackRules, targetTypes } from './coupon.ts';

const type = () =>
  z.union(couponTypes.map((one) => z.literal(one)) as [z.ZodLiteral<1>, z.ZodLiteral<2>, z.ZodLiteral<3>]).meta({
    description: '1: an amount off from min_amount, 2: a rate, 3: a flat amount off',
    examples: [1],
  });
const discount = () =>
  z
    .number()
    .min(0)
    .max(toWire(maxMinor))
    .meta({ description: 'the amount off; for type 2 the rate that is paid: 0.9 = pay 90 %', examples: [10] });
const count = (about: string, example: number) =>
  z
    .int()
    .min(0)
    .max(maxCount)
    .meta({ description: `${about}; 0 = unlimited`, examples: [example] });
/** A time of a form. Empty or null is open. */
export const timeInput = (about: string) =>
  text(40)
    .nullable()
    .optional()
    .meta({ description: `${about}; empty = open; without an offset in the zone of the shop`, examples: [''] });
export const nameInput = (example: string) =>
  lineText(maxName)
    .min(1)
    .meta({ examples: [example] });
const targetValue = () =>
  z
    .union([text(100), z.int().min(0)])
    .meta({ description: 'for vip_level the id of the member level', examples: [''] });

const optional = {
  start_at: timeInput('when it becomes valid'),
  end_at: timeInput('the last second of its validity'),
};
export const couponBody = z.object({
  name: nameInput('10 off from 99'),
  type: type(),
  discount: zeroWhenEmpty(discount()),
  min_amount: amountInput().default(0),
  total_count: count('coupons for all shoppers together', 1000).default(0),
  per_limit: count('coupons for one shopper', 1).default(0),
  status: bit().default(1),
  description: trimmedText(maxDescription).default(''),
  stack_rule: z.enum(stackRules).default('exclusive'),
  target_type: z.enum(targetTypes).default('all'),
  target_value: targetValue().default(''),
  ...optional,
});
/** A field that is absent is not changed. An empty text is 0. */
export const couponChangeBody = z.object({
  name: nameInput('10 off from 99').optional(),
  type: type().optional(),
  discount: zeroWhenEmpty(discount().optional()),
  min_amount: zeroWhenEmpty(amountInput().optional()),
  total_count: zeroWhenEmpty(count('coupons for all shoppers together', 1000).optional()),
  per_limit: zeroWhenEmpty(count('coupons for one shopper', 1).optional()),
  status: bit().optional(),
  description: trimmedText(maxDescription).optional(),
  stack_rule: z.enum(stackRules).optional(),
  target_type: z.enum(targetTypes).optional(),
  target_value: targetValue().optional(),
  ...optional,
});
export type CouponChanges = z.output<typeof couponChangeBody>;

/** A filter by 0 or 1. -1 is all. */
export const statusFilter = z
  .int()
  .min(-1)
  .max(1)
  .optional()
  .meta({ description: '0 disabled, 1 enabled; -1 or absent = all', examples: [1] });
export const keywordFilter = text(maxName)
  .optional()
  .meta({ description: 'a part of the name', examples: ['off'] });
export const couponQuery = pageQueryWith({
  keyword: keywordFilter,
  status: statusFilter,
  type: z
    .int()
    .min(-1)
    .max(3)
    .optional()
    .meta({ description: '1, 2 or 3; -1, 0 or absent = all', examples: [1] }),
});

export const sendBody = z.object({
  count: z
    .int()
    .min(1)
    .max(maxSend)
    .meta({ description: 'the most coupons to send, one per shopper', examples: [1] }),
});
export const sentView = z.object({ sent_count: z.int().min(0) });

/** The card of a coupon. */
export const couponCard = {
  id: id(),
  name: z.string().meta({ examples: ['10 off from 99'] }),
  type: type(),
  type_label: z.string().meta({ examples: ['Threshold reduction'] }),
  min_amount: amount(),
  discount: discount(),
  start_at: timestamp().nullable(),
  end_at: timestamp().nullable(),
  status: bit(),
  status_label: z.string().meta({ examples: ['Enabled'] }),
  description: z.string(),
  stack_rule: z.enum(stackRules),
};
export const couponFields = {
  ...couponCard,
  target_type: z.enum(targetTypes),
  target_value: z.union([z.string(), z.int()]).meta({ description: 'as staff entered it', examples: [''] }),
  total_count: z.int(),
  per_limit: z.int(),
  claimed_count: z.int().meta({ description: 'coupons that shoppers got' }),
  used_count: z.int().meta({ description: 'coupons that staff sent' }),
  created_at: timestamp(),
  updated_at: timestamp(),
};
export const couponView = z.object(couponFields).meta({ id: 'Coupon' });
