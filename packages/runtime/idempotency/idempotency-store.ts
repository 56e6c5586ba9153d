import type { Sql, Statement, Transaction } from '@tradepost/postgres';
import { sessionName } from '../store/events.ts';

export type KeyId = { caller: string; key: string };
export type KeyRequest = KeyId & { fingerprint: Buffer };
export type KeyRow = KeyId & {
  fingerprint: Buffer;
  outcome: unknown;
  status: number | null;
  code: number | null;
  answer: string | null;
};

const ids = (keys: readonly KeyId[]) => [keys.map((k) => k.caller), keys.map((k) => k.key)] as const;
const id = ({ caller, key }: KeyId) => `${caller} ${key}`;

/**
 * Claims keys for this instance. Returns `null` for a claimed key, or the existing row of a key that another request
 * has. A key occurs at most once per call. The commit does not wait for the disk: the write under the key does, and it
 * flushes this commit too.
 */
export async function claimKeys(
  sql: Sql,
  requests: readonly KeyRequest[],
  { instance, keptSeconds }: { instance: string; keptSeconds: number },
): Promise<(KeyRow | null)[]> {
  const [callers, keys] = ids(requests);
  const claimed = await sql.begin(async (tx) => {
    const [, rows] = await Promise.all([
      tx`set local synchronous_commit = off`,
      tx<KeyId[]>`
        insert into runtime.idempotency_keys as k (caller, key, fingerprint, instance, expires_at)
        select caller, key, decode(fingerprint, 'hex'), ${instance}, now() + make_interval(secs => ${keptSeconds})
        from unnest(${callers}::text[], ${keys}::text[], ${requests.map((r) => r.fingerprint.toString('hex'))}::text[])
          as w (caller, key, fingerprint)
        order by caller, key
        on conflict (caller, key) do update
        set fingerprint = excluded.fingerprint, instance = excluded.instance, claimed_at = now(), outcome = null,
            status = null, code = null, answer = null, expires_at = excluded.expires_at
        where k.expires_at <= now()
        returning caller, key`,
    ]);
    return new Set(rows.map(id));
  });
  if (claimed.size === requests.length) return requests.map(() => null);
  const rows = await sql<KeyRow[]>`
    select k.caller, k.key, k.fingerprint, k.outcome, k.status, k.code, k.answer
    from unnest(${callers}::text[], ${keys}::text[]) as w (caller, key)
    join runtime.idempotency_keys k using (caller, key)`;
  const found = new Map(rows.map((row) => [id(row), row]));
  return requests.map((request) => {
    if (claimed.has(id(request))) return null;
    // The row was deleted between the two statements, because its request failed. For this call the key is still taken.
    return found.get(id(request)) ?? { ...request, outcome: null, status: null, code: null, answer: null };
  });
}

type Lease = { instance: string; leaseSeconds: number };

/**
 * The condition for a key whose request no longer runs. The key belongs to this instance (which runs a key once at a
 * time and does not run it now), or its instance has no session, or the claim is older than any request can be.
 */
const abandoned = (sql: Sql, { caller, key }: KeyId, { instance, leaseSeconds }: Lease) => sql`
  caller = ${caller} and key = ${key} and answer is null and (
    instance = ${instance} or claimed_at < now() - make_interval(secs => ${leaseSeconds})
    or not exists (select from pg_stat_activity where application_name = ${sessionName('')} || instance))`;

export async function isAbandoned(sql: Sql, key: KeyId, lease: Lease): Promise<boolean> {
  const rows = await sql`select from runtime.idempotency_keys where ${abandoned(sql, key, lease)}`;
  return rows.length > 0;
}

/**
 * Claims an abandoned key. Returns the stored outcomes of its first request. Undefined when a request still runs under
 * the key or has stored its answer.
 */
export async function claimAbandonedKey(sql: Sql, key: KeyId, lease: Lease): Promise<{ outcome: unknown } | undefined> {
  const [row] = await sql<{ outcome: unknown }[]>`
    update runtime.idempotency_keys set instance = ${lease.instance}, claimed_at = now()
    where ${abandoned(sql, key, lease)}
    returning outcome`;
  return row;
}

export type KeyAnswer = KeyId & { status: number; code: number; answer: string };

/** Stores answers. A key that another instance has claimed in the meantime is not changed. */
export async function storeAnswers(sql: Sql, answers: readonly KeyAnswer[], instance: string): Promise<void> {
  const [callers, keys] = ids(answers);
  await sql.begin(async (tx) => {
    await Promise.all([
      tx`set local synchronous_commit = off`,
      tx`
        update runtime.idempotency_keys k set status = a.status, code = a.code, answer = a.answer
        from unnest(${callers}::text[], ${keys}::text[], ${answers.map((a) => a.status)}::smallint[],
                    ${answers.map((a) => a.code)}::int[], ${answers.map((a) => a.answer)}::text[])
          as a (caller, key, status, code, answer)
        where k.caller = a.caller and k.key = a.key and k.instance = ${instance} and k.answer is null`,
    ]);
  });
}

/** `forget`: the request may run again from the start. */
export type KeyRelease = KeyId & { forget: boolean };

/**
 * Releases keys whose request ended without an answer to store. With `forget` the row is deleted, unless an outcome was
 * stored. Otherwise the row stays without an instance, so a repeat on any instance sees at once that the request has
 * ended.
 */
export async function releaseKeys(sql: Sql, keys: readonly KeyRelease[], instance: string): Promise<void> {
  const forgotten = keys.filter((key) => key.forget);
  const [callers, names] = ids(forgotten);
  // Waits for a running transaction that stores the outcome. The second statement then sees the outcome.
  if (forgotten.length > 0)
    await sql`
      delete from runtime.idempotency_keys k using unnest(${callers}::text[], ${names}::text[]) as r (caller, key)
      where k.caller = r.caller and k.key = r.key and k.instance = ${instance} and k.outcome is null and k.answer is null`;
  const [allCallers, allNames] = ids(keys);
  await sql`
    update runtime.idempotency_keys k set instance = ''
    from unnest(${allCallers}::text[], ${allNames}::text[], ${keys.map((key) => Number(key.forget))}::int[])
      as r (caller, key, forget)
    where k.caller = r.caller and k.key = r.key and k.instance = ${instance} and k.answer is null
      and (k.outcome is not null or r.forget = 0)`;
}

/**
 * Stores the outcomes of a use case in its transaction. The statement fails, and the transaction with it, when a key
 * belongs to another instance or has an outcome already: of two processes that both act as the owner of a key, only one
 * writes.
 */
export function recordOutcomes(
  tx: Transaction,
  outcomes: readonly (KeyId & { outcome: unknown })[],
  instance: string,
): Statement {
  const [callers, keys] = ids(outcomes);
  return tx`
    with kept as (
      update runtime.idempotency_keys k set outcome = o.outcome::jsonb
      from unnest(${callers}::text[], ${keys}::text[], ${outcomes.map((o) => JSON.stringify(o.outcome))}::text[])
        as o (caller, key, outcome)
      where k.caller = o.caller and k.key = o.key and k.instance = ${instance} and k.outcome is null
      returning 1
    )
    select runtime.must(count(*) = ${outcomes.length}, 'an Idempotency-Key belongs to another request by now') from kept`;
}

/** The number of keys of a caller, at most `max`. */
export async function countKeys(sql: Sql, caller: string, max: number): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n
    from (select from runtime.idempotency_keys where caller = ${caller} and expires_at > now() limit ${max}) k`;
  return row!.n;
}

export async function keyExists(sql: Sql, { caller, key }: KeyId): Promise<boolean> {
  const rows = await sql`
    select from runtime.idempotency_keys where caller = ${caller} and key = ${key} and expires_at > now()`;
  return rows.length > 0;
}
