import type Postgres from 'postgres';
import { postgres } from './driver.ts';

export type Sql = Postgres.Sql<{ bigint: number }>;
export type Transaction = Postgres.TransactionSql<{ bigint: number }>;
/** What a store function runs on: the pool for reads, the caller's transaction for writes. */
export type Queryable = Sql | Transaction;

const int8 = 20;

/** bigint columns are read as numbers; everything stored (cents, ids) stays below 2^53, anything else is a bug to see. */
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
    /** null keeps a connection for ever: what holds a session lock must not be renewed under it. */
    maxLifetimeSeconds?: number | null;
    statementTimeoutMs?: number;
    /** What a statement waits for somebody else's row. */
    lockTimeoutMs?: number;
  } = {},
): Sql {
  const { onStatement } = options;
  return postgres(url, {
    max: options.max ?? 12,
    ...(options.maxLifetimeSeconds !== undefined ? { max_lifetime: options.maxLifetimeSeconds } : {}),
    connect_timeout: 10,
    // The driver's own waits up to 20 s, long after the database is back.
    backoff: (attempts: number) => Math.min(0.05 * 2 ** attempts, 1),
    onnotice: (notice) => options.onNotice?.(String(notice.message)),
    ...(onStatement ? { debug: (_connection: number, text: string) => onStatement(text) } : {}),
    connection: {
      application_name: options.name ?? 'tradepost',
      timezone: 'UTC',
      ...(options.statementTimeoutMs ? { statement_timeout: options.statementTimeoutMs } : {}),
      ...(options.lockTimeoutMs ? { lock_timeout: options.lockTimeoutMs } : {}),
    },
    types: {
      bigint: { to: int8, from: [int8], serialize: (value: number) => String(value), parse: parseInt8 },
    },
  }) as Sql;
}

/**
 * Has a statement planned for the values it carries, each time: for filters whose best plan depends on them, where the
 * driver's prepared statements would end in one plan for all.
 */
export function plannedByValue<T extends object>(query: T): T {
  (query as unknown as { options: { prepare?: boolean } }).options.prepare = false;
  return query;
}

/** A statement that is not sent yet. */
// biome-ignore lint/suspicious/noExplicitAny: whatever rows it answers
export type Statement = Postgres.PendingQuery<any>;

/**
 * A transaction whose last statements travel together with its commit, so that its locks are held for one round trip less.
 * `work` answers its value and those statements; when one of them fails, the commit is a rollback and this rejects.
 */
export function writeTransaction<T>(
  sql: Sql,
  work: (tx: Transaction) => Promise<{ value: T; last: readonly Statement[] }>,
): Promise<T> {
  const ended = sql.begin(async (tx) => {
    const { value, last } = await work(tx);
    let failed: unknown = null;
    // execute() keeps the order; a statement that is merely awaited would be sent a turn later.
    const sent = last.map((statement) => statement.execute());
    for (const statement of sent)
      statement.catch((error: unknown) => {
        failed ??= error;
      });
    // A statement that the driver itself refuses fails before this turn's write: then nothing may be committed.
    await new Promise((resolve) => process.nextTick(resolve));
    if (failed) throw failed;
    // Tells the driver that the transaction ends here, whatever becomes of it (patch 5 in README.md).
    Object.assign(tx, { ended: true });
    await Promise.all([...sent, tx`commit`.execute()]);
    return { value };
  });
  return ended.then(({ value }) => value as T);
}
