import { paged, pagingOf, toMinor } from '@tradepost/core';
import { defineRoute, pagedOf, pageQueryWith, type Route } from '@tradepost/http';
import { type Runtime, runtimeErrors, timeZone } from '@tradepost/runtime';
import { selectCommissions } from '../commissions/commission-store.ts';
import { commissionView } from '../commissions/commission-views.ts';
import { distributionConfig } from '../config/distribution-config.ts';
import { applyAsDistributor } from '../distributors/apply.ts';
import { bindShopper } from '../distributors/bind-shopper.ts';
import { selectDistributor, selectDistributors } from '../distributors/distributor-store.ts';
import { distributorView, memberView } from '../distributors/distributor-views.ts';
import { distributionErrors } from '../errors.ts';
import {
  applyBody,
  bindBody,
  bindingSchema,
  commissionSchema,
  distributorSchema,
  teamQuery,
  teamSchema,
  withdrawalSchema,
  withdrawBody,
} from '../schemas.ts';
import { idCardName } from '../tables.ts';
import { requestWithdrawal } from '../withdrawals/request-withdrawal.ts';
import { selectWithdrawal, selectWithdrawals } from '../withdrawals/withdrawal-store.ts';
import { withdrawalView } from '../withdrawals/withdrawal-views.ts';

const shared = { auth: 'shopper', tag: 'Distribution' } as const;
const path = '/api/v1/distribution';
const noRows = { rows: [], total: 0 };

/** What a shopper does as a distributor, or to become one. */
export const distributionRoutes = (runtime: Runtime): Route[] => {
  const { sql, secrets, settings, now } = runtime;
  const zone = () => settings.get(timeZone);
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: `${path}/info`,
      summary: 'The caller as a distributor; null for others',
      description: 'The only answer with the whole identity card number.',
      response: distributorSchema.nullable(),
      refuses: [runtimeErrors.secret_unreadable],
      statements: 1,
      async handle({ caller, locale }) {
        const row = await selectDistributor(sql, { user_id: caller.id });
        if (!row) return null;
        const id_card = row.id_card_sealed === null ? '' : secrets.open(idCardName(row.id), row.id_card_sealed);
        return { ...distributorView(row, { zone: zone(), locale }), id_card };
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: `${path}/apply`,
      summary: 'Apply to become a distributor',
      description: 'Without `parent_id` the parent is the distributor that the shopper is bound to.',
      body: applyBody,
      response: distributorSchema,
      refuses: [
        ...[distributionErrors.closed, distributionErrors.missing_field, distributionErrors.already_applied],
        ...[distributionErrors.parent_not_found, distributionErrors.already_bound, distributionErrors.not_distributor],
        runtimeErrors.secrets_unusable,
      ],
      repeat: 'recorded',
      statements: 9,
      async handle({ caller, body, write, locale }) {
        await applyAsDistributor(runtime, write, { ...body, user_id: caller.id, parent_id: body.parent_id ?? 0 });
        const row = await selectDistributor(sql, { user_id: caller.id });
        return distributorView(row!, { zone: zone(), locale });
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: `${path}/bind`,
      summary: 'Become the customer of a distributor, once, before the first paid order',
      body: bindBody,
      response: bindingSchema,
      refuses: [
        ...[distributionErrors.closed, distributionErrors.distributor_not_found, distributionErrors.bind_distributor],
        ...[distributionErrors.already_bound, distributionErrors.has_paid_order],
      ],
      repeat: 'recorded',
      statements: 7,
      async handle({ caller, body, write }) {
        if (!settings.get(distributionConfig).enabled) throw distributionErrors.closed();
        const binding = { user_id: caller.id, distributor_id: body.distributor_id };
        await write(async (tx) => {
          await bindShopper(tx, binding, now());
          return null;
        });
        return { distributor_id: body.distributor_id };
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: `${path}/team`,
      summary: 'The caller as a distributor, and the distributors directly below, without their personal data',
      query: teamQuery,
      response: teamSchema,
      statements: 2,
      async handle({ caller, query, locale }) {
        const paging = pagingOf(query, { size: 100 });
        const own = await selectDistributor(sql, { user_id: caller.id });
        if (!own) return { distributor: null, team: [], total: 0 };
        const { rows, total } = await selectDistributors(sql, { parent_id: own.id }, paging);
        const reader = { zone: zone(), locale };
        return { distributor: distributorView(own, reader), team: rows.map((row) => memberView(row, reader)), total };
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: `${path}/orders`,
      summary: 'The commissions of the caller, the newest first',
      query: pageQueryWith({}),
      response: pagedOf(commissionSchema),
      statements: 2,
      async handle({ caller, query, locale }) {
        const paging = pagingOf(query);
        const own = await selectDistributor(sql, { user_id: caller.id });
        const { rows, total } = own ? await selectCommissions(sql, { distributor_id: own.id }, paging) : noRows;
        return paged(
          rows.map((row) => commissionView(row, { zone: zone(), locale })),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: `${path}/withdrawals`,
      summary: 'The withdrawals of the caller, the newest first',
      query: pageQueryWith({}),
      response: pagedOf(withdrawalSchema),
      statements: 2,
      async handle({ caller, query, locale }) {
        const paging = pagingOf(query);
        const own = await selectDistributor(sql, { user_id: caller.id });
        const { rows, total } = own ? await selectWithdrawals(sql, { distributor_id: own.id }, paging) : noRows;
        return paged(
          rows.map((row) => withdrawalView(row, { zone: zone(), locale })),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: `${path}/withdrawals`,
      summary: 'Ask for a withdrawal; its amount is frozen until staff decide',
      body: withdrawBody,
      response: withdrawalSchema,
      refuses: [
        ...[distributionErrors.not_distributor, distributionErrors.distributor_inactive],
        ...[distributionErrors.below_minimum, distributionErrors.insufficient_balance],
        ...[distributionErrors.too_many_open, runtimeErrors.secrets_unusable],
      ],
      repeat: 'recorded',
      statements: 11,
      async handle({ caller, body, write, locale }) {
        const request = { ...body, user_id: caller.id, amount: toMinor(body.amount) };
        const id = await requestWithdrawal(runtime, write, request);
        const row = await selectWithdrawal(sql, id);
        return withdrawalView(row!, { zone: zone(), locale });
      },
    }),
  ];
};
