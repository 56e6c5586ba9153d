import type Postgres from 'postgres';
import { actorSetting, type ChangeActor } from './change-actor.ts';
import { postgres } from './driver.ts';

export type Sql = Postgres.Sql<{ bigint: number }>;
export type Transaction = Postgres.TransactionSql<{ bigint: number }>;
/** The argument of store functions: the pool for reads, the transaction of the caller for writes. */
export type Queryable = Sql | Transaction;

const int8 = 20;

/** bigint columns are read as numbers. All stored values (cents, ids) are below 2^53, so a larger value is a bug. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is not a safe integer`);
  return value;
}

export function openDatabase(
  url: string,
  options: {
    max?: number;
    name?: string;
    onStatement?: (text: string) => void;
    onNotice?: (text: string) => void;
    /** `null`: a connection is never replaced for its age. Needed by sessions that hold an advisory lock. */
    maxLifetimeSeconds?: number | null;
    statementTimeoutMs?: number;
    /** How long a statement waits for a row that another transaction has locked. */
    lockTimeoutMs?: number;
    /** The actor of all changes on these connections, for the change log. */
    actor?: ChangeActor | null | undefined;
    /** Settings of the server for these connections. */
    settings?: Readonly<Record<string, string>>;
  } = {},
): Sql {
  const { onStatement } = options;
  return postgres(url, {
    max: options.max ?? 12,
    ...(options.maxLifetimeSeconds !== undefined ? { max_lifetime: options.maxLifetimeSeconds } : {}),
    connect_timeout: 10,
    // The default of the driver waits up to 20 s, also when the database is available again.
    backoff: (attempts: number) => Math.min(0.05 * 2 ** attempts, 1),
    onnotice: (notice) => options.onNotice?.(String(notice.message)),
    ...(onStatement ? { debug: (_connection: number, text: string) => onStatement(text) } : {}),
    connection: {
      application_name: options.name ?? 'tradepost',
      timezone: 'UTC',
      ...(options.statementTimeoutMs ? { statement_timeout: options.statementTimeoutMs } : {}),
      ...(options.lockTimeoutMs ? { lock_timeout: options.lockTimeoutMs } : {}),
      ...(options.actor ? { [actorSetting]: JSON.stringify(options.actor) } : {}),
      ...options.settings,
    },
    types: {
      bigint: { to: int8, from: [int8], serialize: (value: number) => String(value), parse: parseInt8 },
    },
  }) as Sql;
}

/**
 * Makes PostgreSQL plan the statement for its values at each execution. For filters whose best plan depends on the
 * values: a prepared statement would get one plan for all of them.
 */
export function plannedByValue<T extends object>(query: T): T {
  (query as unknown as { options: { prepare?: boolean } }).options.prepare = false;
  return query;
}

/** A statement that is not sent yet. */
// biome-ignore lint/suspicious/noExplicitAny: statements of all row types
export type Statement = Postgres.PendingQuery<any>;

/**
 * A transaction that sends its last statements together with COMMIT, so its locks are held for one round trip less.
 * `work` returns the value of the transaction and these statements. When one of them fails, the server rolls back at
 * COMMIT and the promise rejects.
 */
export function writeTransaction<T>(
  sql: Sql,
  work: (tx: Transaction) => Promise<{ value: T; last: readonly Statement[] }>,
): Promise<T> {
  const ended = sql.begin(async (tx) => {
    const { value, last } = await work(tx);
    let failed: unknown = null;
    // execute() keeps the order. A statement that is only awaited would be sent in a later microtask.
    const sent = last.map((statement) => statement.execute());
    for (const statement of sent)
      statement.catch((error: unknown) => {
        failed ??= error;
      });
    // A statement that the driver rejects fails before the write of this iteration. Then nothing may be committed.
    await new Promise((resolve) => process.nextTick(resolve));
    if (failed) throw failed;
    // The patched driver then sends neither COMMIT nor ROLLBACK itself (patch 5 in README.md).
    Object.assign(tx, { ended: true });
    await Promise.all([...sent, tx`commit`.execute()]);
    return { value };
  });
  return ended.then(({ value }) => value as T);
}
