import { toMinor } from '@tradepost/core';
import { defineRoute, idParams, nothing, type Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { vipErrors } from '../errors.ts';
import { either, isoOf } from '../fields.ts';
import { maxPlans } from '../limits.ts';
import { edit, listRoute, view } from '../row-routes.ts';
import { planBody, planChange, planSchema, planView } from './plan-schemas.ts';
import { plans } from './plan-store.ts';

const refuses = [vipErrors.plan_not_found];

export const planRoutes = (runtime: Runtime): Route[] => [
  listRoute(runtime, {
    path: '/admin/api/vip/plans',
    summary: 'Plans of memberships, newest first',
    response: planSchema,
    statements: 1,
    rows: plans,
    views: (rows, iso) => rows.map((row) => planView(row, iso)),
  }),
  defineRoute({
    ...view,
    method: 'GET',
    path: '/admin/api/vip/plans/:id',
    summary: 'A plan',
    params: idParams,
    response: planSchema,
    refuses,
    statements: 1,
    async handle({ params }) {
      const plan = await plans.select(runtime.sql, params.id);
      if (!plan) throw vipErrors.plan_not_found();
      return planView(plan, isoOf(runtime));
    },
  }),
  defineRoute({
    ...edit,
    method: 'POST',
    path: '/admin/api/vip/plans',
    summary: 'Add a plan. A plan with the price 0 is free for everyone',
    body: planBody,
    response: nothing,
    refuses: [vipErrors.too_many],
    statements: 2,
    async handle({ body, write }) {
      const { name, price, renew_price = 0, status = 1 } = body;
      const months = either(body.months, body.duration_months)!;
      const plan = { name, months, price: toMinor(price), renew_price: toMinor(renew_price), status };
      return write(async (tx) => {
        if (!(await plans.insert(tx, plan))) throw vipErrors.too_many({ max: maxPlans });
        return null;
      });
    },
  }),
  defineRoute({
    ...edit,
    method: 'PUT',
    path: '/admin/api/vip/plans/:id',
    summary:
      'Change a plan; absent fields stay unchanged. Memberships and open purchases keep what they were sold with',
    params: idParams,
    body: planChange,
    response: nothing,
    refuses,
    statements: 1,
    handle: ({ params, body: { name, price, renew_price, status, ...body }, write }) =>
      write(async (tx) => {
        const change = {
          ...{ name, status, months: either(body.months, body.duration_months) },
          price: price === undefined ? undefined : toMinor(price),
          renew_price: renew_price === undefined ? undefined : toMinor(renew_price),
        };
        if (!(await plans.update(tx, params.id, change))) throw vipErrors.plan_not_found();
        return null;
      }),
  }),
  defineRoute({
    ...edit,
    method: 'DELETE',
    path: '/admin/api/vip/plans/:id',
    summary: 'Delete a plan. Memberships of the plan stay valid',
    params: idParams,
    response: nothing,
    refuses,
    statements: 1,
    handle: ({ params, write }) =>
      write(async (tx) => {
        if (!(await plans.remove(tx, params.id))) throw vipErrors.plan_not_found();
        return null;
      }),
  }),
];
