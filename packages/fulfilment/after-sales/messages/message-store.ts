import type { Queryable, Transaction } from '@tradepost/postgres';

/** Locks these cases in id order until the transaction ends, and returns the ids of those that exist. */
export async function lockCaseRows(tx: Transaction, ids: readonly number[]): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select id from fulfilment.after_sale_cases where id = any(${[...ids]}::bigint[]) order by id for no key update`;
  return rows.map((row) => row.id);
}

export type CaseMessage = {
  id: number;
  case_id: number;
  from: 'merchant' | 'user';
  content: string;
  images: string[];
  created_at: Date;
};
export type NewMessage = Omit<CaseMessage, 'id' | 'case_id' | 'created_at'> & {
  operator_type: 'user' | 'admin';
  operator_id: number;
};

/** Adds the message to each of these locked cases in which its side has fewer than `max`. Returns the ids of these cases. */
export async function insertMessages(
  tx: Transaction,
  caseIds: readonly number[],
  message: NewMessage,
  { now, max }: { now: Date; max: number },
): Promise<number[]> {
  const rows = await tx<{ case_id: number }[]>`
    insert into fulfilment.after_sale_messages (case_id, sender, operator_type, operator_id, content, images, created_at)
    select c.id, ${message.from}, ${message.operator_type}, ${message.operator_id}, ${message.content},
      ${JSON.stringify(message.images)}::text::jsonb, ${now}
    from unnest(${[...caseIds]}::bigint[]) as c (id)
    where (select count(*) from fulfilment.after_sale_messages m
           where m.case_id = c.id and m.operator_type = ${message.operator_type}) < ${max}
    order by c.id
    returning case_id`;
  return rows.map((row) => row.case_id);
}

/** The messages of these cases, oldest first. */
export async function selectMessages(sql: Queryable, caseIds: readonly number[]): Promise<CaseMessage[]> {
  return sql<CaseMessage[]>`
    select id, case_id, sender as "from", content, images, created_at from fulfilment.after_sale_messages
    where case_id = any(${[...caseIds]}::bigint[]) order by case_id, id`;
}

export type CaseEvidence = { id: number; case_id: number; images: string[]; remark: string; created_at: Date };

/** Adds the evidence to each of these locked cases that has fewer than `max`. Returns the ids of these cases. */
export async function insertEvidences(
  tx: Transaction,
  caseIds: readonly number[],
  evidence: { images: readonly string[]; remark: string; staff_id: number },
  { now, max }: { now: Date; max: number },
): Promise<number[]> {
  const rows = await tx<{ case_id: number }[]>`
    insert into fulfilment.after_sale_evidences (case_id, images, remark, staff_id, created_at)
    select c.id, ${JSON.stringify(evidence.images)}::text::jsonb, ${evidence.remark}, ${evidence.staff_id}, ${now}
    from unnest(${[...caseIds]}::bigint[]) as c (id)
    where (select count(*) from fulfilment.after_sale_evidences e where e.case_id = c.id) < ${max}
    order by c.id
    returning case_id`;
  return rows.map((row) => row.case_id);
}

/** The evidences of these cases, oldest first. */
export async function selectEvidences(sql: Queryable, caseIds: readonly number[]): Promise<CaseEvidence[]> {
  return sql<CaseEvidence[]>`
    select id, case_id, images, remark, created_at from fulfilment.after_sale_evidences
    where case_id = any(${[...caseIds]}::bigint[]) order by case_id, id`;
}
