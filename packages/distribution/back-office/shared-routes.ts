import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, maxBatch, nothing, pagedOf, type Route } from '@tradepost/http';
import { type Runtime, runtimeErrors, timeZone } from '@tradepost/runtime';
import type { Commission } from '../commissions/commission.ts';
import { selectCommissions } from '../commissions/commission-store.ts';
import { commissionView } from '../commissions/commission-views.ts';
import { changeStatus } from '../distributors/change-status.ts';
import { distributionErrors } from '../errors.ts';
import {
  commissionQuery,
  commissionSchema,
  rejectBody,
  statusBody,
  withdrawalDetail,
  withdrawalQuery,
  withdrawalSchema,
} from '../schemas.ts';
import { bankAccountName } from '../tables.ts';
import { moveWithdrawal } from '../withdrawals/move-withdrawal.ts';
import { selectHistory, selectWithdrawal, selectWithdrawals } from '../withdrawals/withdrawal-store.ts';
import { historyView, withdrawalView } from '../withdrawals/withdrawal-views.ts';

export const staffView = { auth: 'staff', permission: 'distribution:view', tag: 'Distribution (admin)' } as const;
export const staffEdit = { ...staffView, permission: 'distribution:edit' } as const;

/** A filter of the console: -1 means all. */
export const chosen = <T extends string>(status: T | undefined): Exclude<T, '-1'> | null =>
  status === undefined || status === '-1' ? null : (status as Exclude<T, '-1'>);

/** Clients know no candidates: they are pending. */
const storedStatuses = (status: 'pending' | 'settled' | 'cancelled' | null): Commission['status'][] | null => {
  if (status === null) return null;
  return status === 'pending' ? ['candidate', 'pending'] : [status];
};

const allowed = (perms: readonly string[]) => perms.includes('*') || perms.includes('distribution:edit');

/** Routes that only the first dialect has. Both prefixes serve them. */
export function sharedRoutes(runtime: Runtime, path: string): Route[] {
  const { sql, secrets, settings, now } = runtime;
  const zone = () => settings.get(timeZone);
  return [
    defineRoute({
      ...staffEdit,
      method: 'PUT',
      path: `${path}/distributors/:id`,
      summary: 'Approve, disable or enable a distributor',
      params: idParams,
      body: statusBody,
      response: nothing,
      refuses: [distributionErrors.distributor_not_found, distributionErrors.account_deleted],
      repeat: 'recorded',
      statements: 2,
      handle: ({ params, body, write }) => write((tx) => changeStatus(tx, params.id, body.status, now())),
    }),
    defineRoute({
      ...staffView,
      method: 'GET',
      path: `${path}/orders`,
      summary: 'Commissions of orders, the newest first',
      query: commissionQuery,
      response: pagedOf(commissionSchema, maxBatch),
      statements: 1,
      async handle({ query, locale }) {
        const paging = pagingOf(query, { cap: maxBatch });
        const { rows, total } = await selectCommissions(
          sql,
          { statuses: storedStatuses(chosen(query.status)) },
          paging,
        );
        return paged(
          rows.map((row) => commissionView(row, { zone: zone(), locale })),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      ...staffView,
      method: 'GET',
      path: `${path}/orders/:id`,
      summary: 'One commission',
      params: idParams,
      response: commissionSchema,
      refuses: [distributionErrors.commission_not_found],
      statements: 1,
      async handle({ params, locale }) {
        const { rows } = await selectCommissions(sql, { id: params.id }, { size: 1, offset: 0 });
        if (!rows[0]) throw distributionErrors.commission_not_found();
        return commissionView(rows[0], { zone: zone(), locale });
      },
    }),
    defineRoute({
      ...staffView,
      method: 'GET',
      path: `${path}/withdrawals`,
      summary: 'Withdrawals, the newest first; of bank accounts only the end',
      query: withdrawalQuery,
      response: pagedOf(withdrawalSchema, maxBatch),
      statements: 1,
      async handle({ query, locale }) {
        const paging = pagingOf(query, { cap: maxBatch });
        const status = chosen(query.status);
        const { rows, total } = await selectWithdrawals(sql, { statuses: status && [status] }, paging);
        return paged(
          rows.map((row) => withdrawalView(row, { zone: zone(), locale })),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      ...staffView,
      method: 'GET',
      path: `${path}/withdrawals/:id`,
      summary: 'One withdrawal with its history',
      description: 'The whole bank account is shown to staff with distribution:edit, who make the payment.',
      params: idParams,
      response: withdrawalDetail,
      refuses: [distributionErrors.withdrawal_not_found, runtimeErrors.secret_unreadable],
      statements: 2,
      async handle({ params, caller, locale }) {
        const row = await selectWithdrawal(sql, params.id);
        if (!row) throw distributionErrors.withdrawal_not_found();
        const reader = { zone: zone(), locale };
        const { bank_account_sealed: sealed } = row;
        const history = (await selectHistory(sql, row.id)).map((one) => historyView(one, reader));
        const view = { ...withdrawalView(row, reader), history };
        if (sealed === null || !allowed(caller.perms)) return view;
        return { ...view, bank_account: secrets.open(bankAccountName(row.id), sealed) };
      },
    }),
    defineRoute({
      ...staffEdit,
      method: 'POST',
      path: `${path}/withdrawals/:id/approve`,
      summary: 'Approve a withdrawal: pending -> approved',
      params: idParams,
      response: nothing,
      refuses: [distributionErrors.withdrawal_not_found, distributionErrors.cannot_approve],
      repeat: 'recorded',
      statements: 4,
      handle: ({ params, caller, write }) =>
        write((tx) => moveWithdrawal(tx, { id: params.id, move: 'approve', staff_id: caller.id }, now())),
    }),
    defineRoute({
      ...staffEdit,
      method: 'POST',
      path: `${path}/withdrawals/:id/reject`,
      summary: 'Reject a withdrawal that is not completed; its amount is available again',
      params: idParams,
      body: rejectBody,
      response: nothing,
      refuses: [distributionErrors.withdrawal_not_found, distributionErrors.cannot_reject],
      repeat: 'recorded',
      statements: 7,
      handle: ({ params, body, caller, write }) =>
        write((tx) =>
          moveWithdrawal(tx, { id: params.id, move: 'reject', staff_id: caller.id, reason: body.reason }, now()),
        ),
    }),
    defineRoute({
      ...staffEdit,
      method: 'POST',
      path: `${path}/withdrawals/:id/complete`,
      summary: 'Record that an approved withdrawal was paid',
      params: idParams,
      response: nothing,
      refuses: [distributionErrors.withdrawal_not_found, distributionErrors.cannot_complete],
      repeat: 'recorded',
      statements: 7,
      handle: ({ params, caller, write }) =>
        write((tx) => moveWithdrawal(tx, { id: params.id, move: 'complete', staff_id: caller.id }, now())),
    }),
  ];
}
