import type { Transaction } from '@tradepost/postgres';
import type { Money } from '../payment-rules.ts';
import type { NoticeNumbers } from '../payment-store.ts';
import type { PaymentSubject, SubjectSession } from './payment-subject.ts';
import { selectSubjectPayments, selectSubjectsOf } from './subject-store.ts';

/** The subjects that the notices of a batch are about, locked, with all their payments. */
export type LockedSubjects = { payments: readonly Money[]; sessions: ReadonlyMap<string, SubjectSession> };

const noSubjects: LockedSubjects = { payments: [], sessions: new Map() };

/** Whether a payment number is one of a subject. It needs no query, so notices about orders cost nothing more. */
export const isOfSubject = (paymentNo: string, subjects: readonly PaymentSubject[]): boolean =>
  subjects.some(({ prefix }) => paymentNo.startsWith(prefix));

/** Locks, in the order of the subjects, what these notices are about. Locks of a subject come before those of its payments. */
export async function lockSubjects(
  tx: Transaction,
  subjects: readonly PaymentSubject[],
  notices: readonly NoticeNumbers[],
  now: Date,
): Promise<LockedSubjects> {
  if (notices.length === 0) return noSubjects;
  const found = await selectSubjectsOf(tx, notices);
  if (found.length === 0) return noSubjects;
  const idsOf = Map.groupBy(found, ({ subject }) => subject);
  const sessions = new Map<string, SubjectSession>();
  for (const { name, lock } of subjects) {
    const ids = idsOf.get(name)?.map(({ subject_id }) => subject_id);
    if (ids) sessions.set(name, await lock(tx, ids, now));
  }
  // A payment of a module that is switched off stays as it is: its notice is refused, and repeated by the provider.
  const payments = await selectSubjectPayments(
    tx,
    found.filter(({ subject }) => sessions.has(subject)),
  );
  return { payments, sessions };
}
