import type { Queryable, Transaction } from '@tradepost/postgres';

export type StoredCode = { salt: Buffer; code_hash: Buffer; expires_at: Date; attempts_left: number };

/**
 * Registers a request for a code, in the place of the phone's older one. With no code given it waits to be sent.
 * False when the phone had its last one after `notBefore`.
 */
export async function insertCodeRequest(
  tx: Transaction,
  of: { phone: string; requestId: string; at: Date; notBefore: Date; code: StoredCode | null },
): Promise<boolean> {
  const { salt = null, code_hash = null, expires_at = null, attempts_left = 0 } = of.code ?? {};
  const rows = await tx`
    insert into identity.sms_codes as c (phone, request_id, requested_at, salt, code_hash, expires_at, attempts_left)
    values (${of.phone}, ${of.requestId}, ${of.at}, ${salt}, ${code_hash}, ${expires_at}, ${attempts_left})
    on conflict (phone) do update
      set request_id = excluded.request_id, requested_at = excluded.requested_at, salt = excluded.salt,
          code_hash = excluded.code_hash, expires_at = excluded.expires_at, attempts_left = excluded.attempts_left
      where c.requested_at <= ${of.notBefore}
    returning phone`;
  return rows.length > 0;
}

export async function selectRequestedAt(sql: Queryable, phone: string): Promise<Date | undefined> {
  const [row] = await sql<{ requested_at: Date }[]>`
    select requested_at from identity.sms_codes where phone = ${phone}`;
  return row?.requested_at;
}

/** Puts the code of a request in place. False when the request is out of date: replaced, used or too old. */
export async function updateWaitingCode(
  sql: Queryable,
  requestId: string,
  askedAfter: Date,
  codeOf: StoredCode,
): Promise<boolean> {
  const { salt, code_hash, expires_at, attempts_left } = codeOf;
  const rows = await sql`
    update identity.sms_codes
    set salt = ${salt}, code_hash = ${code_hash}, expires_at = ${expires_at}, attempts_left = ${attempts_left}
    where request_id = ${requestId} and requested_at > ${askedAfter}
    returning phone`;
  return rows.length > 0;
}

export async function selectPhoneOfRequest(sql: Queryable, requestId: string): Promise<string | undefined> {
  const [row] = await sql<{ phone: string }[]>`
    select phone from identity.sms_codes where request_id = ${requestId}`;
  return row?.phone;
}

/** The phone's code, locked: of two logins with one code the second one finds it used. */
export async function lockCode(tx: Transaction, phone: string): Promise<StoredCode | undefined> {
  const [row] = await tx<StoredCode[]>`
    select salt, code_hash, expires_at, attempts_left from identity.sms_codes
    where phone = ${phone} and code_hash is not null for update`;
  return row;
}

/** Counts a wrong guess. */
export async function countWrongGuess(tx: Transaction, phone: string): Promise<void> {
  await tx`update identity.sms_codes set attempts_left = attempts_left - 1 where phone = ${phone}`;
}

/** The row stays for `sms.resend_seconds`; under another request id, so that no job sends a code for it again. */
export async function useUpCode(tx: Transaction, phone: string): Promise<void> {
  await tx`
    update identity.sms_codes
    set salt = null, code_hash = null, expires_at = null, attempts_left = 0, request_id = gen_random_uuid()
    where phone = ${phone}`;
}

export async function deleteCode(tx: Transaction, phone: string): Promise<void> {
  await tx`delete from identity.sms_codes where phone = ${phone}`;
}
