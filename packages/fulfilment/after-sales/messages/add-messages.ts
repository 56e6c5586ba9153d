import type { Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { formats } from '../cases/case-views.ts';
import { afterSaleErrors } from '../errors.ts';
import { maxEvidences, maxMessagesPerSide } from '../limits.ts';
import {
  type CaseEvidence,
  type CaseMessage,
  insertEvidences,
  insertMessages,
  lockCaseRows,
  type NewMessage,
} from './message-store.ts';

/** The outcome of each case: true when it is in `added`, else the refusal. */
const outcomesOf = (
  caseIds: readonly number[],
  existing: readonly number[],
  added: readonly number[],
  full: () => Error,
) =>
  caseIds.map((id) => {
    if (added.includes(id)) return true;
    return existing.includes(id) ? full() : afterSaleErrors.case_not_found();
  });

/** Adds one message to many cases. The cases are locked, so the limit holds. Returns for each case true or its refusal. */
export async function addMessages(
  tx: Transaction,
  caseIds: readonly number[],
  message: NewMessage,
  now: Date,
): Promise<(true | Error)[]> {
  const existing = await lockCaseRows(tx, caseIds);
  const added = await insertMessages(tx, existing, message, { now, max: maxMessagesPerSide });
  return outcomesOf(caseIds, existing, added, () => afterSaleErrors.too_many_messages({ max: maxMessagesPerSide }));
}

/** Adds one evidence to many cases. The cases are locked, so the limit holds. Returns for each case true or its refusal. */
export async function addEvidences(
  tx: Transaction,
  caseIds: readonly number[],
  evidence: { images: readonly string[]; remark: string; staff_id: number },
  now: Date,
): Promise<(true | Error)[]> {
  if (evidence.images.length === 0) return caseIds.map(() => afterSaleErrors.images_required());
  const existing = await lockCaseRows(tx, caseIds);
  const added = await insertEvidences(tx, existing, evidence, { now, max: maxEvidences });
  return outcomesOf(caseIds, existing, added, () => afterSaleErrors.too_many_evidences({ max: maxEvidences }));
}

type Runs = Pick<Runtime, 'settings' | 'config'>;

export function messageViews(runtime: Runs, messages: readonly CaseMessage[], request: Request) {
  const { iso, absolute } = formats(runtime, request);
  return messages.map(({ case_id: _case, ...message }) => ({
    ...message,
    images: message.images.map(absolute),
    created_at: iso(message.created_at),
  }));
}

export function evidenceViews(runtime: Runs, evidences: readonly CaseEvidence[], request: Request) {
  const { iso, absolute } = formats(runtime, request);
  return evidences.map(({ case_id: _case, ...evidence }) => ({
    ...evidence,
    images: evidence.images.map(absolute),
    created_at: iso(evidence.created_at),
  }));
}
