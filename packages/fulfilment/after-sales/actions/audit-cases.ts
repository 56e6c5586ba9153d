import type { Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { notifyBuyers } from '../notices.ts';
import { isAccepted } from '../write-one.ts';
import { type CaseRequest, type LockedCase, moveCases } from './move-cases.ts';

type Audit = CaseRequest & { readonly audit_remark: string };

/** Approves or rejects applications. A rejected case has ended. */
export async function auditCases(
  tx: Transaction,
  runtime: Pick<Runtime, 'settings' | 'config' | 'now'>,
  approve: boolean,
  requests: readonly Audit[],
): Promise<(LockedCase | Error)[]> {
  const outcomes = await moveCases(tx, requests, {
    move: approve ? 'approve' : 'reject',
    now: runtime.now(),
    decide: (_found, { audit_remark }) => ({
      values: { audit_status: approve ? 'approved' : 'rejected', audit_remark },
      details: { approve, remark: audit_remark },
    }),
  });
  const moved = outcomes.filter(isAccepted).map((found) => ({ found }));
  await notifyBuyers(tx, runtime, approve ? 'after_sale_approved' : 'after_sale_rejected', moved);
  return outcomes;
}
