import type { Queryable, Transaction } from '@tradepost/postgres';

export type StoredCode = { salt: Buffer; code_hash: Buffer; expires_at: Date; attempts_left: number };

/**
 * Registers a request for a code. It replaces the older request of the phone. Without a code it waits for the job that sends it.
 * Returns false when the last request of the phone is later than `notBefore`.
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

/** Stores the code of a request. Returns false when the request was replaced or used, or is too old. */
export async function updateWaitingCode(
  sql: Queryable,
  requestId: string,
  requestedAfter: Date,
  code: StoredCode,
): Promise<boolean> {
  const { salt, code_hash, expires_at, attempts_left } = code;
  const rows = await sql`
    update identity.sms_codes
    set salt = ${salt}, code_hash = ${code_hash}, expires_at = ${expires_at}, attempts_left = ${attempts_left}
    where request_id = ${requestId} and requested_at > ${requestedAfter}
    returning phone`;
  return rows.length > 0;
}

export async function selectPhoneOfRequest(sql: Queryable, requestId: string): Promise<string | undefined> {
  const [row] = await sql<{ phone: string }[]>`
    select phone from identity.sms_codes where request_id = ${requestId}`;
  return row?.phone;
}

/** Locks and returns the code of the phone. Of two logins with one code, the second one finds it used. */
export async function lockCode(tx: Transaction, phone: string): Promise<StoredCode | undefined> {
  const [row] = await tx<StoredCode[]>`
    select salt, code_hash, expires_at, attempts_left from identity.sms_codes
    where phone = ${phone} and code_hash is not null for update`;
  return row;
}

export async function countWrongGuess(tx: Transaction, phone: string): Promise<void> {
  await tx`update identity.sms_codes set attempts_left = attempts_left - 1 where phone = ${phone}`;
}

/** Removes the code. The row stays for the resend time. It gets a new request id, so that no job sends a code for it again. */
export async function useUpCode(tx: Transaction, phone: string): Promise<void> {
  await tx`
    update identity.sms_codes
    set salt = null, code_hash = null, expires_at = null, attempts_left = 0, request_id = gen_random_uuid()
    where phone = ${phone}`;
}

export async function deleteCode(tx: Transaction, phone: string): Promise<void> {
  await tx`delete from identity.sms_codes where phone = ${phone}`;
}
