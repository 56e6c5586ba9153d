import { maxMinor, toWire } from '@tradepost/core';
import {
  amount,
  amountInput,
  id,
  idOrZero,
  lineText,
  list,
  pageQueryWith,
  requiredText,
  timestamp,
  zeroWhenEmpty,
} from '@tradepost/http';
import { z } from 'zod';
import { hasBasisPoints } from './config/distribution-config.ts';
import { distributorStatuses } from './distributors/distributor.ts';
import { maxHistory, maxName, maxNumber, maxPhone, maxReason } from './limits.ts';
import { withdrawalStatuses } from './withdrawals/withdrawal.ts';

const label = () => z.string().meta({ examples: ['Pending'] });
const count = () =>
  z
    .int()
    .min(0)
    .meta({ examples: [3] });
const percentage = () => z.number().meta({ description: '10 is 10 %', examples: [10] });

export const distributorSchema = z
  .object({
    id: id(),
    user_id: id(),
    parent_id: idOrZero().describe('0: without a parent'),
    level: z
      .int()
      .describe('1 without a parent, else one more than the parent')
      .meta({ examples: [1] }),
    status: z.enum(distributorStatuses),
    status_label: label(),
    total_earnings: amount(),
    available_amount: amount(),
    frozen_amount: amount(),
    withdrawn_amount: amount(),
    debt_amount: amount().describe('taken back after it was withdrawn; the next earnings pay it first'),
    total_customers: count(),
    total_orders: count(),
    nickname: z.string(),
    real_name: z.string(),
    id_card: z
      .string()
      .describe('of others only the end is shown')
      .meta({ examples: ['****1234'] }),
    phone: z.string(),
    created_at: timestamp(),
  })
  .meta({ id: 'Distributor' });

export const commissionSchema = z
  .object({
    id: id(),
    order_id: id(),
    distributor_id: id(),
    level: z
      .int()
      .describe('1: the distributor of the buyer')
      .meta({ examples: [1] }),
    order_amount: amount().meta({ examples: [20.8] }),
    commission_rate: percentage(),
    commission: amount()
      .describe('without what refunds took back')
      .meta({ examples: [2.08] }),
    status: z.enum(['pending', 'settled', 'cancelled']),
    status_label: label(),
    settled_at: timestamp().nullable(),
    created_at: timestamp(),
  })
  .meta({ id: 'Commission' });

export const withdrawalSchema = z
  .object({
    id: id(),
    distributor_id: id(),
    amount: amount().meta({ examples: [100] }),
    fee: amount().meta({ examples: [1] }),
    actual_amount: amount().meta({ examples: [99] }),
    status: z.enum(withdrawalStatuses),
    status_label: label(),
    reject_reason: z.string(),
    bank_name: z.string(),
    bank_account: z
      .string()
      .describe('in lists only the end')
      .meta({ examples: ['****6789'] }),
    account_name: z.string(),
    processed_at: timestamp().nullable(),
    completed_at: timestamp().nullable(),
    created_at: timestamp(),
  })
  .meta({ id: 'Withdrawal' });

export const withdrawalDetail = withdrawalSchema.extend({
  history: list(
    z.object({
      from_status: z.enum(['', ...withdrawalStatuses]),
      to_status: z.enum(withdrawalStatuses),
      to_status_label: label(),
      operator: z.enum(['user', 'admin']),
      operator_id: id(),
      reason: z.string(),
      created_at: timestamp(),
    }),
    maxHistory,
  ),
});

export const numericDistributorSchema = z
  .object({
    id: id(),
    user_id: id(),
    parent_id: idOrZero(),
    level: z.int().min(1).max(2).describe('1 without a parent, else 2'),
    nickname: z.string(),
    real_name: z.string(),
    phone: z.string(),
    balance: amount().describe('available_amount'),
    total_earn: amount().describe('total_earnings'),
    total_customers: count(),
    total_orders: count(),
    status: z.int().min(0).max(1).describe('1 enabled, 0 disabled or not approved yet'),
    status_label: label(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'NumericDistributor' });

export const numericCommissionSchema = z
  .object({
    id: id(),
    order_id: id(),
    distributor_id: id(),
    level: z.int().min(1).max(2).describe('1 direct, 2 indirect'),
    amount: amount(),
    status: z.int().min(1).max(3).describe('1 pending, 2 settled, 3 returned'),
    status_label: label(),
    created_at: timestamp(),
  })
  .meta({ id: 'NumericCommission' });

/** A filter by text. -1 means all, as the console sends it. */
const statusIn = <const T extends readonly [string, ...string[]]>(values: T) =>
  z
    .enum([...values, '-1'] as readonly [...T, '-1'])
    .optional()
    .meta({ description: '-1 or absent: all', examples: [values[0]] });
const numberIn = (description: string, min: number, max: number) =>
  z
    .int()
    .min(min)
    .max(max)
    .optional()
    .meta({ description, examples: [1] });

export const distributorQuery = pageQueryWith({ status: statusIn(distributorStatuses) });
export const commissionQuery = pageQueryWith({ status: statusIn(['pending', 'settled', 'cancelled']) });
export const withdrawalQuery = pageQueryWith({ status: statusIn(withdrawalStatuses) });
export const numericDistributorQuery = pageQueryWith({
  keyword: lineText(100)
    .optional()
    .meta({ description: 'a part of the nickname or of the phone', examples: ['Ann'] }),
  status: numberIn('1 enabled, 0 disabled or not approved yet; -1 or absent: all', -1, 1),
});
export const numericCommissionQuery = pageQueryWith({
  status: numberIn('1 pending, 2 settled, 3 returned; -1 or absent: all', -1, 3),
  distributor_id: idOrZero().optional().describe('0: any'),
  level: numberIn('1 direct, 2 indirect; 0 or absent: all', 0, 2),
});

export const applyBody = z.object({
  parent_id: idOrZero().optional().describe('the distributor who referred the shopper; 0: none'),
  real_name: lineText(maxName)
    .default('')
    .meta({ description: 'required unless the shop switched require_real_name off', examples: ['Ann Lee'] }),
  id_card: lineText(maxNumber)
    .default('')
    .meta({ description: 'as real_name; stored encrypted', examples: ['110101199001011234'] }),
  phone: requiredText(maxPhone).meta({ examples: ['13800000000'] }),
});
export const bindBody = z.object({ distributor_id: id() });
export const bindingSchema = z.object({ distributor_id: id() });
export const withdrawBody = z.object({
  // The shop can set the smallest withdrawal to 0.
  amount: z
    .number()
    .min(0.01)
    .max(toWire(maxMinor))
    .meta({ examples: [100] }),
  bank_name: requiredText(maxName).meta({ examples: ['Bank of China'] }),
  bank_account: requiredText(maxNumber).meta({ examples: ['6222020200112233'] }),
  account_name: requiredText(maxName).meta({ examples: ['Ann Lee'] }),
});
export const statusBody = z.object({ status: z.enum(['active', 'disabled']) });
export const numericStatusBody = z.object({
  status: z
    .int()
    .min(0)
    .max(1)
    .meta({ description: '1 enabled, 0 disabled', examples: [1] }),
});
export const rejectBody = z.object({ reason: requiredText(maxReason).meta({ examples: ['Wrong bank account'] }) });
export const teamQuery = pageQueryWith({});
export const teamSchema = z.object({
  distributor: distributorSchema.nullable(),
  team: list(distributorSchema, 100),
  total: z.int(),
});

/** The fields of the configuration; `rate` is the field of a rate. */
const configFields = (rate: () => z.ZodNumber) => ({
  enabled: z.boolean().meta({ examples: [true] }),
  level: z
    .int()
    .min(1)
    .max(3)
    .meta({ examples: [2] }),
  level1_rate: zeroWhenEmpty(rate()),
  level2_rate: zeroWhenEmpty(rate()),
  level3_rate: zeroWhenEmpty(rate()),
  min_withdraw: zeroWhenEmpty(amountInput().meta({ examples: [100] })),
  withdraw_fee_rate: zeroWhenEmpty(rate()),
  auto_approve: z.boolean(),
  require_real_name: z.boolean(),
});
const percent = () =>
  z
    .number()
    .min(0)
    .max(100)
    .refine((rate) => hasBasisPoints(rate), { params: { fault: 'decimals', n: 2 } })
    .meta({ description: 'in percent: 10 is 10 %', examples: [10] });
const fraction = () =>
  z
    .number()
    .min(0)
    .max(1)
    .refine((rate) => hasBasisPoints(rate * 100), { params: { fault: 'decimals', n: 4 } })
    .meta({ description: 'as a fraction: 0.1 is 10 %', examples: [0.05] });
export const percentConfig = z.object(configFields(percent)).meta({ id: 'DistributionConfig' });
export const fractionConfig = z.object(configFields(fraction)).meta({ id: 'DistributionFractions' });
