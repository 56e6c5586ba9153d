import { defineRoute, idParams, nothing, type Route } from '@tradepost/http';
import type { Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { vipErrors } from '../errors.ts';
import { either } from '../fields.ts';
import { maxRules } from '../limits.ts';
import { edit, listRoute } from '../row-routes.ts';
import type { Changes } from '../row-store.ts';
import { type Coupons, couponNames, resolveCoupon } from './coupons.ts';
import { ruleBody, ruleChange, ruleSchema, ruleView } from './rule-schemas.ts';
import { type RuleFields, rules, selectConditions } from './rule-store.ts';

const { rule_not_found, coupon_unknown, plan_unknown, level_unknown, too_many } = vipErrors;

async function checkConditions(tx: Transaction, rule: Pick<RuleFields, 'plan_id' | 'level_id'>): Promise<void> {
  const found = await selectConditions(tx, rule);
  if (!found.plan) throw plan_unknown();
  if (!found.level) throw level_unknown();
}

/** Changes the given fields. A new name without a new id means another coupon. */
async function changeRule(tx: Transaction, id: number, change: Changes<RuleFields>, coupons: Coupons): Promise<void> {
  const before = await rules.lock(tx, id);
  if (!before) throw rule_not_found();
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const rule: RuleFields = { ...before, ...Object.fromEntries(given) };
  if (rule.plan_id !== before.plan_id || rule.level_id !== before.level_id) await checkConditions(tx, rule);
  const otherId = rule.coupon_id > 0 && rule.coupon_id !== before.coupon_id;
  const otherName = rule.coupon_name !== '' && rule.coupon_name !== before.coupon_name;
  const { coupon_id, coupon_name } = before;
  if (otherId) Object.assign(rule, await resolveCoupon(tx, coupons, rule));
  else if (otherName) Object.assign(rule, await resolveCoupon(tx, coupons, { ...rule, coupon_id: 0 }));
  else Object.assign(rule, { coupon_id, coupon_name });
  await rules.update(tx, id, rule);
}

/** `coupons` is called after all modules are open. */
export const ruleRoutes = (runtime: Runtime, coupons: () => Coupons): Route[] => [
  listRoute(runtime, {
    path: '/admin/api/vip/coupon-rules',
    summary: 'Rules of monthly coupons, newest first',
    response: ruleSchema,
    statements: 2,
    rows: rules,
    async views(rows, iso) {
      const names = await couponNames(runtime.sql, coupons(), rows);
      return rows.map((row, index) => ruleView(row, names[index]!, iso));
    },
  }),
  defineRoute({
    ...edit,
    method: 'POST',
    path: '/admin/api/vip/coupon-rules',
    summary: 'Add a rule: members can claim its coupon each month',
    description:
      'Without coupon_id the newest coupon with the name coupon_name is given. While no coupon has it, claims are refused.',
    body: ruleBody,
    response: nothing,
    refuses: [coupon_unknown, plan_unknown, level_unknown, too_many],
    statements: 4,
    handle: ({ body, write }) =>
      write(async (tx) => {
        const { name, coupon_id = 0, coupon_name = '', plan_id = 0, level_id = 0, status = 1 } = body;
        const monthly_quota = either(body.monthly_limit, body.monthly_quota) ?? 1;
        await checkConditions(tx, { plan_id, level_id });
        const coupon = await resolveCoupon(tx, coupons(), { coupon_id, coupon_name });
        if (!(await rules.insert(tx, { name, plan_id, level_id, monthly_quota, status, ...coupon })))
          throw too_many({ max: maxRules });
        return null;
      }),
  }),
  defineRoute({
    ...edit,
    method: 'PUT',
    path: '/admin/api/vip/coupon-rules/:id',
    summary: 'Change a rule of monthly coupons; absent fields stay unchanged',
    params: idParams,
    body: ruleChange,
    response: nothing,
    refuses: [rule_not_found, coupon_unknown, plan_unknown, level_unknown],
    statements: 4,
    handle: ({ params, body: { name, coupon_id, coupon_name, plan_id, level_id, status, ...body }, write }) =>
      write(async (tx) => {
        const monthly_quota = either(body.monthly_limit, body.monthly_quota);
        const change = { name, coupon_id, coupon_name, plan_id, level_id, status, monthly_quota };
        await changeRule(tx, params.id, change, coupons());
        return null;
      }),
  }),
  defineRoute({
    ...edit,
    method: 'DELETE',
    path: '/admin/api/vip/coupon-rules/:id',
    summary: 'Delete a rule of monthly coupons. Coupons that were claimed stay',
    params: idParams,
    response: nothing,
    refuses: [rule_not_found],
    statements: 1,
    handle: ({ params, write }) =>
      write(async (tx) => {
        if (!(await rules.remove(tx, params.id))) throw rule_not_found();
        return null;
      }),
  }),
];
