import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, maxBatch, nothing, pagedOf, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import type { Commission } from '../commissions/commission.ts';
import { selectCommissions } from '../commissions/commission-store.ts';
import { numericCommissionView } from '../commissions/commission-views.ts';
import { moveCommission } from '../commissions/move-commission.ts';
import { fractionView, percentChanges } from '../config/config-views.ts';
import { changeStatus } from '../distributors/change-status.ts';
import type { DistributorStatus } from '../distributors/distributor.ts';
import { numericDistributorView } from '../distributors/distributor-views.ts';
import { distributionErrors } from '../errors.ts';
import {
  fractionConfig,
  numericCommissionQuery,
  numericCommissionSchema,
  numericDistributorQuery,
  numericDistributorSchema,
  numericStatusBody,
} from '../schemas.ts';
import { dialectRoutes } from './dialect-routes.ts';
import { sharedRoutes, staffEdit, staffView } from './shared-routes.ts';

const path = '/admin/api/distribution';

const distributorStatuses: Readonly<Record<number, readonly DistributorStatus[]>> = {
  0: ['disabled', 'pending'],
  1: ['active'],
};
const commissionStatuses: Readonly<Record<number, readonly Commission['status'][]>> = {
  1: ['candidate', 'pending'],
  2: ['settled'],
  3: ['cancelled'],
};
const levels: Readonly<Record<number, readonly number[]>> = { 1: [1], 2: [2, 3] };

/** The second dialect: rates as fractions, statuses as numbers. Paths that only the first dialect has answer as there. */
export function fractionRoutes(runtime: Runtime): Route[] {
  const { sql, settings, now } = runtime;
  const zone = () => settings.get(timeZone);
  return [
    ...dialectRoutes(runtime, {
      path,
      config: {
        summary: 'The configuration of distribution, with rates as fractions',
        schema: fractionConfig,
        view: fractionView,
        changes: percentChanges,
      },
      distributors: {
        query: numericDistributorQuery,
        schema: numericDistributorSchema,
        filter: ({ keyword, status }) => ({
          keyword: keyword?.toLowerCase() || null,
          statuses: distributorStatuses[status ?? -1] ?? null,
        }),
        view: numericDistributorView,
      },
    }),
    defineRoute({
      ...staffEdit,
      method: 'PUT',
      path: `${path}/distributors/:id/status`,
      summary: 'Approve, disable or enable a distributor',
      params: idParams,
      body: numericStatusBody,
      response: nothing,
      refuses: [distributionErrors.distributor_not_found, distributionErrors.account_deleted],
      repeat: 'recorded',
      statements: 2,
      handle: ({ params, body, write }) =>
        write((tx) => changeStatus(tx, params.id, body.status === 1 ? 'active' : 'disabled', now())),
    }),
    defineRoute({
      ...staffView,
      method: 'GET',
      path: `${path}/commissions`,
      summary: 'Commissions, the newest first',
      query: numericCommissionQuery,
      response: pagedOf(numericCommissionSchema, maxBatch),
      statements: 1,
      async handle({ query, locale }) {
        const paging = pagingOf(query, { cap: maxBatch });
        const filter = {
          statuses: commissionStatuses[query.status ?? -1] ?? null,
          distributor_id: query.distributor_id || null,
          levels: levels[query.level ?? 0] ?? null,
        };
        const { rows, total } = await selectCommissions(sql, filter, paging);
        return paged(
          rows.map((row) => numericCommissionView(row, { zone: zone(), locale })),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      ...staffEdit,
      method: 'PUT',
      path: `${path}/commissions/:id/settle`,
      summary: 'Settle a pending commission by hand, also before its order is completed',
      params: idParams,
      response: nothing,
      refuses: [
        ...[distributionErrors.commission_not_found, distributionErrors.order_not_paid],
        ...[distributionErrors.cannot_settle, distributionErrors.distributor_inactive],
      ],
      repeat: 'recorded',
      statements: 5,
      handle: ({ params, write }) => write((tx) => moveCommission(tx, params.id, 'settle', now())),
    }),
    defineRoute({
      ...staffEdit,
      method: 'PUT',
      path: `${path}/commissions/:id/return`,
      summary: 'Take a commission back',
      params: idParams,
      response: nothing,
      refuses: [distributionErrors.commission_not_found, distributionErrors.cannot_return],
      repeat: 'recorded',
      statements: 5,
      handle: ({ params, write }) => write((tx) => moveCommission(tx, params.id, 'return', now())),
    }),
    ...sharedRoutes(runtime, path),
  ];
}
