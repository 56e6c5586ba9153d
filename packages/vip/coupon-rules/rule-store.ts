import type { Queryable } from '@tradepost/postgres';
import { maxRules } from '../limits.ts';
import { rowStore } from '../row-store.ts';

/** `coupon_id` 0: the coupon is found by its name. `plan_id` and `level_id` 0: any. */
export type RuleFields = {
  name: string;
  coupon_id: number;
  coupon_name: string;
  plan_id: number;
  level_id: number;
  monthly_quota: number;
  status: 0 | 1;
};
export type CouponRule = RuleFields & { id: number; created_at: Date; updated_at: Date };

/** The rules, the newest first. */
export const rules = rowStore<RuleFields>({
  table: 'vip.coupon_rules',
  columns: ['name', 'coupon_id', 'coupon_name', 'plan_id', 'level_id', 'monthly_quota', 'status'],
  order: (sql) => sql`id desc`,
  most: maxRules,
});

/** Whether the plan and the level exist. 0 always exists. */
export async function selectConditions(
  sql: Queryable,
  { plan_id, level_id }: Pick<RuleFields, 'plan_id' | 'level_id'>,
): Promise<{ plan: boolean; level: boolean }> {
  const [row] = await sql<{ plan: boolean; level: boolean }[]>`
    select ${plan_id}::bigint = 0 or exists (select from vip.plans where id = ${plan_id}) as plan,
           ${level_id}::bigint = 0 or exists (select from vip.levels where id = ${level_id}) as level`;
  return row!;
}
