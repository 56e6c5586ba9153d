import type { Transaction } from '@tradepost/postgres';
import { selectCases } from '../cases/case-store.ts';
import { afterSaleErrors } from '../errors.ts';
import { type CaseRequest, type LockedCase, moveCases } from './move-cases.ts';

/** Completes cases. A case that is completed already stays as it is, and counts as success. */
export async function completeCases(
  tx: Transaction,
  requests: readonly CaseRequest[],
  now: Date,
): Promise<(true | Error)[]> {
  const outcomes = await moveCases(tx, requests, { move: 'complete', now });
  const refused = requests.filter((_, index) => outcomes[index] instanceof Error).map((request) => request.case_id);
  const cases = refused.length > 0 ? await selectCases(tx, refused) : [];
  const completed = new Set(cases.filter((row) => row.status === 'completed').map((row) => row.id));
  return requests.map(({ case_id }, index) => {
    const outcome = outcomes[index]!;
    return outcome instanceof Error && !completed.has(case_id) ? outcome : true;
  });
}

type Closing = CaseRequest & { readonly reason: string };

/** Closes open cases that were not refunded or reshipped. */
export async function closeCases(
  tx: Transaction,
  requests: readonly Closing[],
  now: Date,
): Promise<(LockedCase | Error)[]> {
  return moveCases(tx, requests, {
    move: 'close',
    now,
    decide: (_found, { reason }) =>
      reason === ''
        ? afterSaleErrors.close_reason_required()
        : { values: { close_reason: reason }, details: { reason } },
  });
}
