import type { ChangeActor } from './change-actor.ts';
import type { Sql, Statement, Transaction } from './client.ts';

/** Sets the actor until the end of the transaction. */
const setActor = (tx: Transaction, actor: ChangeActor): Statement =>
  tx`select set_config('tradepost.actor', ${JSON.stringify(actor)}, true)`;

type Work<T> = (tx: Transaction) => Promise<T>;

async function named<T>(tx: Transaction, actor: ChangeActor, work: Work<T>): Promise<T> {
  // Sent before the first statement of `work`, in the same round trip. When it fails, so do the statements after it.
  const set = setActor(tx, actor).execute();
  set.catch(() => {});
  const value = await work(tx);
  await set;
  return value;
}

/**
 * The pool for one actor: its transactions (`begin`, `writeTransaction`) are recorded in the change log. A statement
 * outside of a transaction is not. Without an actor the pool itself is returned.
 */
export function actingSql(sql: Sql, actor: ChangeActor | null | undefined): Sql {
  if (!actor) return sql;
  const begin = (first: string | Work<unknown>, second?: Work<unknown>) =>
    typeof first === 'string'
      ? sql.begin(first, (tx) => named(tx as Transaction, actor, second!))
      : sql.begin((tx) => named(tx as Transaction, actor, first));
  const query = ((...args: Parameters<Sql>) => sql(...args)) as unknown as Sql;
  return Object.assign(query, sql, { begin }) as Sql;
}
