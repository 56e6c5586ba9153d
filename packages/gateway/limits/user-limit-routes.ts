import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, pagedOf, type Route } from '@tradepost/http';
import { selectNicknames } from '@tradepost/identity';
import type { Runtime } from '@tradepost/runtime';
import { gatewayErrors } from '../errors.ts';
import { pageQuery, tokenChangeView, userLimitsBody, userLimitsView } from '../schemas.ts';
import { selectTokenChanges } from '../tokens/api-token-store.ts';
import type { ApiTokens } from '../tokens/api-tokens.ts';
import { tokenChangeViewOf, userLimitsViewOf } from '../tokens/token-view.ts';
import { selectUserLimits } from './user-limits-store.ts';

const shared = { auth: 'staff', permission: 'system:config', tag: 'Rate limits', params: idParams } as const;

export function userLimitRoutes(runtime: Runtime, tokens: ApiTokens): Route[] {
  const { sql } = runtime;
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/api/admin/users/:id/ratelimit',
      summary: 'Limits of a shopper over all API tokens, as stored and in force',
      response: userLimitsView,
      refuses: [gatewayErrors.user_not_found],
      statements: 2,
      async handle({ params: { id } }) {
        if (!(await selectNicknames(sql, [id])).has(id)) throw gatewayErrors.user_not_found({ id });
        return userLimitsViewOf(runtime, id, await selectUserLimits(sql, id));
      },
    }),
    defineRoute({
      ...shared,
      method: 'PUT',
      path: '/api/admin/users/:id/ratelimit',
      summary: 'Set the limits of a shopper; null and absent fields inherit the default',
      body: userLimitsBody,
      repeat: 'natural',
      response: userLimitsView,
      refuses: [gatewayErrors.user_not_found],
      statements: 5,
      async handle({ params: { id }, body: { rpm_limit = null, tpm_limit = null }, caller, actor }) {
        const limits = await tokens.setUserLimits(id, { rpm_limit, tpm_limit }, `admin:${caller.id}`, actor);
        return userLimitsViewOf(runtime, id, limits);
      },
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/api/admin/users/:id/ratelimit',
      summary: 'Reset the limits of a shopper to the defaults',
      repeat: 'natural',
      response: userLimitsView,
      refuses: [gatewayErrors.user_not_found],
      statements: 5,
      async handle({ params: { id }, caller, actor }) {
        const limits = await tokens.setUserLimits(
          id,
          { rpm_limit: null, tpm_limit: null },
          `admin:${caller.id}`,
          actor,
        );
        return userLimitsViewOf(runtime, id, limits);
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/api/admin/users/:id/ratelimit/changes',
      summary: 'Changes of the limits and API tokens of a shopper with their authors, the newest first',
      query: pageQuery,
      response: pagedOf(tokenChangeView),
      statements: 1,
      async handle({ params: { id }, query }) {
        const paging = pagingOf(query);
        const { rows, total } = await selectTokenChanges(sql, { user_id: id }, paging);
        const list = rows.map((row) => tokenChangeViewOf(runtime, row));
        return paged(list, total, paging);
      },
    }),
  ];
}
