import { defineRoute, idParams, nothing, type Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { vipErrors } from '../errors.ts';
import { either, toRate } from '../fields.ts';
import { maxLevels } from '../limits.ts';
import { edit, listRoute } from '../row-routes.ts';
import { levelBody, levelChange, levelSchema, levelView } from './level-schemas.ts';
import { deleteLevel, levels } from './level-store.ts';

export const levelRoutes = (runtime: Runtime): Route[] => [
  listRoute(runtime, {
    path: '/admin/api/vip/levels',
    summary: 'Levels of members, by sort and growth',
    response: levelSchema,
    statements: 1,
    rows: levels,
    views: (rows, iso) => rows.map((row) => levelView(row, iso)),
  }),
  defineRoute({
    ...edit,
    method: 'POST',
    path: '/admin/api/vip/levels',
    summary: 'Add a level. It applies at once to all shoppers with its growth',
    body: levelBody,
    response: nothing,
    refuses: [vipErrors.too_many],
    statements: 2,
    async handle({ body, write }) {
      const { name, sort = 0, status = 1 } = body;
      const growth_threshold = either(body.growth_min, body.growth_threshold)!;
      const discount_rate = toRate(either(body.discount_rate, body.benefit_json?.discount_rate) ?? 1);
      return write(async (tx) => {
        const level = { name, growth_threshold, discount_rate, sort, status };
        if (!(await levels.insert(tx, level))) throw vipErrors.too_many({ max: maxLevels });
        return null;
      });
    },
  }),
  defineRoute({
    ...edit,
    method: 'PUT',
    path: '/admin/api/vip/levels/:id',
    summary: 'Change a level; absent fields stay unchanged. It applies at once to all shoppers',
    params: idParams,
    body: levelChange,
    response: nothing,
    refuses: [vipErrors.level_not_found],
    statements: 1,
    handle: ({ params, body: { name, sort, status, ...body }, write }) =>
      write(async (tx) => {
        const rate = either(body.discount_rate, body.benefit_json?.discount_rate);
        const change = {
          ...{ name, sort, status, growth_threshold: either(body.growth_min, body.growth_threshold) },
          discount_rate: rate === undefined ? undefined : toRate(rate),
        };
        if (!(await levels.update(tx, params.id, change))) throw vipErrors.level_not_found();
        return null;
      }),
  }),
  defineRoute({
    ...edit,
    method: 'DELETE',
    path: '/admin/api/vip/levels/:id',
    summary: 'Delete a level without member prices',
    params: idParams,
    response: nothing,
    refuses: [vipErrors.level_not_found, vipErrors.level_in_use],
    statements: 2,
    handle: ({ params, write }) =>
      write(async (tx) => {
        if (!(await levels.lock(tx, params.id))) throw vipErrors.level_not_found();
        if (!(await deleteLevel(tx, params.id))) throw vipErrors.level_in_use();
        return null;
      }),
  }),
];
