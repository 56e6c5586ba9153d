import { maxPlans } from '../limits.ts';
import { rowStore } from '../row-store.ts';

/** Amounts in minor units. */
export type PlanFields = { name: string; months: number; price: number; renew_price: number; status: 0 | 1 };
export type Plan = PlanFields & { id: number; created_at: Date; updated_at: Date };

/** The plans, the newest first. */
export const plans = rowStore<PlanFields>({
  table: 'vip.plans',
  columns: ['name', 'months', 'price', 'renew_price', 'status'],
  order: (sql) => sql`id desc`,
  most: maxPlans,
});
