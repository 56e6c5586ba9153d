import { isoInZone, type Locale, labelOf, paged, pagingOf, toWire } from '@tradepost/core';
import { defineRoute, idParams, nothing, pagedOf, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { couponStatusLabels } from '../coupons/coupon.ts';
import { marketingErrors } from '../errors.ts';
import { maxAdminPage } from '../limits.ts';
import { validityView } from '../validity.ts';
import type { FullReduction } from './full-reduction.ts';
import { reductionBody, reductionChangeBody, reductionQuery, reductionView } from './full-reduction-schemas.ts';
import { deleteFullReductions, lockFullReductions, selectFullReductions } from './full-reduction-store.ts';
import { createFullReduction, editFullReduction } from './save-full-reduction.ts';

const tag = 'Full reductions (admin)';
const fieldRefusals = [
  marketingErrors.invalid_time,
  marketingErrors.ends_before_start,
  marketingErrors.tiers_not_ascending,
  marketingErrors.reduce_above_min,
  marketingErrors.too_many_enabled,
];

const reductionViewOf = (row: FullReduction, { zone, locale }: { zone: string; locale: Locale }) => ({
  id: row.id,
  type: 'full_save' as const,
  name: row.name,
  ...validityView(row, zone),
  tiers: row.tiers.map(({ min, reduce }) => ({ min: toWire(min), reduce: toWire(reduce) })),
  status: row.status,
  status_label: labelOf(couponStatusLabels, row.status, locale),
  created_at: isoInZone(row.created_at, zone),
  updated_at: isoInZone(row.updated_at, zone),
});

/** The routes of the back office for full reductions. */
export function fullReductionRoutes({ sql, settings, now }: Runtime): Route[] {
  const times = () => ({ zone: settings.get(timeZone), now: now() });
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/marketing/full-reduce',
      auth: 'staff',
      permission: 'marketing:view',
      tag,
      summary: 'Full reductions, newest first',
      query: reductionQuery,
      response: pagedOf(reductionView, maxAdminPage),
      statements: 1,
      async handle({ query, locale }) {
        const paging = pagingOf(query, { cap: maxAdminPage });
        const { keyword = '', status = -1 } = query;
        const filter = { keyword, status: status < 0 ? null : status };
        const { rows, total } = await selectFullReductions(sql, filter, paging);
        const options = { zone: settings.get(timeZone), locale };
        const list = rows.map((row) => reductionViewOf(row, options));
        return paged(list, total, paging);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/marketing/full-reduce',
      auth: 'staff',
      permission: 'marketing:edit',
      tag,
      summary: 'Create a full reduction',
      body: reductionBody,
      response: reductionView,
      refuses: [...fieldRefusals, marketingErrors.too_many_reductions],
      repeat: 'recorded',
      statements: 3,
      handle({ body, write, locale }) {
        const options = { zone: settings.get(timeZone), locale };
        return write(async (tx) => reductionViewOf(await createFullReduction(tx, body, times()), options));
      },
    }),
    defineRoute({
      method: 'PUT',
      path: '/admin/api/marketing/full-reduce/:id',
      auth: 'staff',
      permission: 'marketing:edit',
      tag,
      summary: 'Edit a full reduction; absent fields stay unchanged',
      params: idParams,
      body: reductionChangeBody,
      response: nothing,
      refuses: [...fieldRefusals, marketingErrors.reduction_not_found],
      repeat: 'recorded',
      statements: 4,
      async handle({ params, body, write }) {
        await write((tx) => editFullReduction(tx, params.id, body, times()));
        return null;
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/admin/api/marketing/full-reduce/:id',
      auth: 'staff',
      permission: 'marketing:edit',
      tag,
      summary: 'Delete a full reduction; orders keep their discounts',
      params: idParams,
      response: nothing,
      refuses: [marketingErrors.reduction_not_found],
      repeat: 'recorded',
      statements: 2,
      async handle({ params: { id }, write }) {
        await write(async (tx) => {
          await lockFullReductions(tx);
          if ((await deleteFullReductions(tx, [id])).length === 0) throw marketingErrors.reduction_not_found({ id });
        });
        return null;
      },
    }),
  ];
}
