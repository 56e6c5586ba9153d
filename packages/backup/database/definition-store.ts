import type { Queryable, Sql, Transaction } from '@tradepost/postgres';
import { fullName, quoted } from './table-store.ts';

/**
 * Indexes, constraints and triggers of the tables that a restore fills. They are dropped before the rows are written and made
 * again afterwards from the definitions of the server: rows are written faster, in any order of the tables, and no trigger runs.
 */
type Constraint = {
  readonly schema: string;
  readonly table: string;
  readonly name: string;
  /** `p` primary key, `u` unique, `x` exclusion, `f` foreign key. */
  readonly kind: 'p' | 'u' | 'x' | 'f';
  readonly definition: string;
  /** The statement that makes the index of a primary key or unique constraint. */
  readonly index_definition: string | null;
  readonly timing: string;
};
type Index = { readonly schema: string; readonly table: string; readonly name: string; readonly definition: string };
type Trigger = { readonly schema: string; readonly table: string; readonly name: string; readonly state: string };
export type Definitions = {
  readonly constraints: readonly Constraint[];
  readonly indexes: readonly Index[];
  readonly triggers: readonly Trigger[];
};

const tableOf = ({ schema, table }: { schema: string; table: string }) => fullName({ schema, name: table });

/** The definitions of the tables of these schemas. Those of partitioned tables and partitions stay in place, except foreign keys. */
export async function selectDefinitions(sql: Queryable, schemas: readonly string[]): Promise<Definitions> {
  const names = schemas as string[];
  const constraints = await sql<Constraint[]>`
    select n.nspname as schema, c.relname as table, k.conname as name, k.contype as kind,
           pg_get_constraintdef(k.oid) as definition,
           case when k.contype in ('p', 'u') then pg_get_indexdef(k.conindid) end as index_definition,
           case when k.condeferrable then ' deferrable' else '' end
             || case when k.condeferred then ' initially deferred' else '' end as timing
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${names}) and k.conparentid = 0
      and (k.contype = 'f' or (k.contype in ('p', 'u', 'x') and c.relkind = 'r' and not c.relispartition))
    order by 1, 2, 3`;
  const indexes = await sql<Index[]>`
    select n.nspname as schema, c.relname as table, i.relname as name, pg_get_indexdef(i.oid) as definition
    from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid
      join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${names}) and c.relkind = 'r' and not c.relispartition
      and not exists (select from pg_constraint k where k.conindid = i.oid and k.contype in ('p', 'u', 'x'))
    order by 1, 2, 3`;
  const triggers = await sql<Trigger[]>`
    select n.nspname as schema, c.relname as table, t.tgname as name, t.tgenabled as state
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${names}) and not t.tgisinternal and t.tgparentid = 0
    order by 1, 2, 3`;
  return { constraints: [...constraints], indexes: [...indexes], triggers: [...triggers] };
}

/** Another object uses the constraint, such as a view that groups by a primary key. */
const isUsed = (error: unknown) => (error as { code?: string }).code === '2BP01';

/** Runs statements in one round trip. False, and nothing has changed, when another object uses what they drop. */
const runTogether = (tx: Transaction, statements: readonly string[]): Promise<boolean> =>
  tx
    .savepoint((point) => point.unsafe(statements.join(';\n')))
    .then(
      () => true,
      (error: unknown) => {
        if (!isUsed(error)) throw error;
        return false;
      },
    );

/** Drops what `rebuild` makes again. Returns the definitions that were dropped: what another object uses stays. */
export async function dropDefinitions(tx: Transaction, all: Definitions): Promise<Definitions> {
  const enabled = all.triggers.filter(({ state }) => state !== 'D');
  await runTogether(
    tx,
    enabled.map((trigger) => `alter table ${tableOf(trigger)} disable trigger ${quoted(trigger.name)}`),
  );
  const dropText = (constraint: Constraint) =>
    `alter table ${tableOf(constraint)} drop constraint ${quoted(constraint.name)}`;
  // Foreign keys use the indexes of other constraints.
  const inOrder = all.constraints.toSorted((one, other) => Number(other.kind === 'f') - Number(one.kind === 'f'));
  const constraints: Constraint[] = [];
  if (await runTogether(tx, inOrder.map(dropText))) constraints.push(...inOrder);
  else
    for (const constraint of inOrder) if (await runTogether(tx, [dropText(constraint)])) constraints.push(constraint);
  await runTogether(
    tx,
    all.indexes.map(({ schema, name }) => `drop index ${fullName({ schema, name })}`),
  );
  return { constraints, indexes: all.indexes, triggers: all.triggers };
}

const enable: Readonly<Record<string, string>> = { O: 'enable', A: 'enable always', R: 'enable replica' };

/** The statements that make the definitions again: those of one step run at once, and one step after the other. */
export function rebuildSteps({ constraints, indexes, triggers }: Definitions): string[][] {
  const add = (constraint: Constraint, definition: string) =>
    `alter table ${tableOf(constraint)} add constraint ${quoted(constraint.name)} ${definition}`;
  const keys = constraints.filter(({ kind }) => kind === 'p' || kind === 'u');
  const of = (wanted: Constraint['kind']) => constraints.filter(({ kind }) => kind === wanted);
  return [
    [
      ...keys.map(({ index_definition }) => index_definition!),
      ...indexes.map(({ definition }) => definition),
      ...of('x').map((constraint) => add(constraint, constraint.definition)),
    ],
    // A constraint on an index that exists keeps the options of the index.
    keys.map((key) =>
      add(key, `${key.kind === 'p' ? 'primary key' : 'unique'} using index ${quoted(key.name)}${key.timing}`),
    ),
    of('f').map((constraint) => add(constraint, constraint.definition)),
    triggers
      .filter(({ state }) => state in enable)
      .map((trigger) => `alter table ${tableOf(trigger)} ${enable[trigger.state]} trigger ${quoted(trigger.name)}`),
  ];
}

/** Makes indexes and constraints, several at once. */
export async function rebuild(sql: Sql, steps: readonly (readonly string[])[], connections: number): Promise<void> {
  for (const statements of steps) {
    const waiting = [...statements];
    const run = async () => {
      for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) await sql.unsafe(text);
    };
    await Promise.all(Array.from({ length: connections }, run));
  }
}

/** The name of the first object whose definition differs, or null. */
export function firstDifference(before: Definitions, after: Definitions): string | null {
  for (const list of ['constraints', 'indexes', 'triggers'] as const) {
    const texts = (of: Definitions) =>
      new Map(of[list].map((each) => [`${tableOf(each)} ${each.name}`, JSON.stringify(each)]));
    const [was, is] = [texts(before), texts(after)];
    for (const name of new Set([...was.keys(), ...is.keys()])) if (was.get(name) !== is.get(name)) return name;
  }
  return null;
}
