import { toWire } from '@tradepost/core';
import { amount, amountInput, id, timestamp, zeroWhenEmpty } from '@tradepost/http';
import { z } from 'zod';
import { name, status } from '../fields.ts';
import { maxPlanMonths } from '../limits.ts';
import type { Plan } from './plan-store.ts';

const months = () =>
  z
    .int()
    .min(1)
    .max(maxPlanMonths)
    .meta({ examples: [12] });
const fields = {
  months: months().optional(),
  duration_months: months().optional().meta({ description: 'another name of months' }),
  renew_price: zeroWhenEmpty(amountInput())
    .optional()
    .meta({ description: 'the price for an active member; 0: the same price', examples: [0] }),
  status: status().optional(),
};
export const planBody = z
  .object({ name: name('Year'), price: amountInput(), ...fields })
  .refine((body) => (body.months ?? body.duration_months) !== undefined, {
    params: { fault: 'missing' },
    path: ['months'],
  });
export const planChange = z.object({ name: name('Year').optional(), price: amountInput().optional(), ...fields });

export const planSchema = z
  .object({
    id: id(),
    name: z.string().meta({ examples: ['Year'] }),
    months: months(),
    duration_months: months(),
    price: amount(),
    renew_price: amount(),
    status: status(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'VipPlan' });

export const planView = (plan: Plan, iso: (at: Date) => string) => ({
  ...{ id: plan.id, name: plan.name, months: plan.months, duration_months: plan.months, status: plan.status },
  ...{ price: toWire(plan.price), renew_price: toWire(plan.renew_price) },
  ...{ created_at: iso(plan.created_at), updated_at: iso(plan.updated_at) },
});
