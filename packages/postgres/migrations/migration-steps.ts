import { readStatements, type SqlStatement } from './read-statements.ts';

/**
 * What a migration does to processes of the release before, which run while it is applied and after it
 * (docs/CONTRIBUTING.md, "Add a migration").
 */
export type MigrationStep = {
  /** `expand`: the release before runs on the new schema. `contract`: it does not. */
  readonly kind: 'expand' | 'contract';
  /** The release that stopped using what the file removes: the first line is `-- contract: <release> <what>`. */
  readonly stoppedIn: string | null;
  /** What breaks the release before, or can break it, and is not marked. Empty: nothing. */
  readonly faults: readonly string[];
  /** The existing tables whose rows the file reads or writes, so that it takes longer with more rows. */
  readonly scans: readonly string[];
  /** The tables, views and functions that it creates or changes, `schema.name`, in order. */
  readonly objects: readonly string[];
};

/** Schemas and tables that the release before does not have. */
type NewObjects = Set<string>;

const contractLine = /^-- contract: (\d+\.\d+\.\d+) \S/;
const compatible = /^compatible: \S/;
const name = '(?:if (?:not )?exists )?(?:only )?([a-z_]+\\.[a-z_]+)';
const pattern = (text: string) => new RegExp(text.replaceAll('NAME', name));

const create = pattern(
  '^create (?:or replace )?(?:unlogged )?(table|view|materialized view|function|procedure|sequence|type) NAME',
);
const createSchema = /^create schema (?:if not exists )?([a-z_]+)/;
const alterTable = pattern('^alter table NAME (.+)$');
const createIndex = pattern('^create (unique )?index .*?\\bon NAME');
const drop = /^drop (table|view|materialized view|function|procedure|sequence|type|schema|domain)\b/;
const alterOther = pattern('^alter (view|function|procedure|sequence|type|schema|materialized view) (?:NAME)?');
const write = pattern('^(?:with .*? )?(?:update|delete from|truncate(?: table)?|merge into) NAME');
const insertFrom = pattern('^insert into NAME.* select ');
const copyFrom = pattern(' (?:from|join) NAME');

/** The actions of an `alter table`: split at commas outside of parentheses. */
function actionsOf(text: string): string[] {
  const actions = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) actions.push('');
    else actions[actions.length - 1] += character;
  }
  return actions.map((action) => action.trim());
}

/** Actions that break a process that uses the table as it was. */
const breakingActions: readonly (readonly [RegExp, string])[] = [
  [/^drop (?:column )?(?!constraint|not null|default)(?:if exists )?\w+/, 'drops a column'],
  [/^rename\b/, 'renames'],
  [/^set schema\b/, 'moves it to another schema'],
  [/^alter (?:column )?\w+ (?:set data )?type\b/, 'changes the type of a column'],
  [/^alter (?:column )?\w+ set not null/, 'makes a column required'],
  [/^alter (?:column )?\w+ drop default/, 'removes a default'],
  [/^(?:enable|force) row level security/, 'restricts the rows'],
];
/** Actions that break a process only when it writes rows that they refuse. */
const refusingActions: readonly (readonly [RegExp, string])[] = [
  [/^add (?:constraint "?\w+"? )?(?:check|unique|primary key|foreign key|exclude)\b/, 'adds a constraint'],
  [
    /^add (?!constraint|check|unique|primary|foreign|exclude)(?:column )?(?:if not exists )?\w+ (?!.*\bdefault\b|.*\bgenerated\b).*\bnot null\b/,
    'adds a required column',
  ],
];
/** Actions that read or rewrite all rows. */
const scanningActions =
  /^(?:alter (?:column )?\w+ (?:set data )?type\b|alter (?:column )?\w+ set not null|validate constraint|add (?:constraint "?\w+"? )?(?:check|unique|primary key|foreign key|exclude)\b(?!.*\bnot valid)|add (?:column )?.*\b(?:stored|identity)\b)/;

type Found = { breaks: string[]; refuses: string[]; scans: string[] };

function alterations(table: string, actions: string): Found {
  const found: Found = { breaks: [], refuses: [], scans: [] };
  for (const action of actionsOf(actions)) {
    const of = (known: typeof breakingActions) =>
      known.filter(([form]) => form.test(action)).map(([, what]) => `${table}: ${what} (${action})`);
    // Without a constraint more rows are accepted.
    if (!/^drop constraint/.test(action)) found.breaks.push(...of(breakingActions));
    found.refuses.push(...of(refusingActions));
    if (scanningActions.test(action)) found.scans.push(table);
  }
  return found;
}

/** What a statement does to tables that the release before has. */
function effectOf({ text }: SqlStatement, isNew: (object: string) => boolean): Found {
  const nothing: Found = { breaks: [], refuses: [], scans: [] };
  const [, altered, actions] = alterTable.exec(text) ?? [];
  if (altered) return isNew(altered) ? nothing : alterations(altered, actions!);
  const [, unique, indexed] = createIndex.exec(text) ?? [];
  if (indexed)
    return isNew(indexed)
      ? nothing
      : { ...nothing, refuses: unique ? [`${indexed}: adds a unique index`] : [], scans: [indexed] };
  if (drop.test(text)) return { ...nothing, breaks: [text] };
  if (/^drop trigger\b/.test(text)) return { ...nothing, refuses: [text] };
  if (/^revoke\b/.test(text)) return { ...nothing, breaks: [text] };
  if (alterOther.test(text) && /\b(?:rename|set schema|drop)\b/.test(text)) return { ...nothing, breaks: [text] };
  const [, written] = write.exec(text) ?? [];
  if (/^truncate/.test(text)) return isNew(written ?? '') ? nothing : { ...nothing, breaks: [text] };
  if (written && !isNew(written)) return { ...nothing, scans: [written] };
  if (insertFrom.test(text)) {
    const read = [...text.matchAll(new RegExp(copyFrom, 'g'))].map(([, table]) => table!);
    return { ...nothing, scans: read.filter((table) => !isNew(table)) };
  }
  return nothing;
}

const objectsIn = ({ text }: SqlStatement): string[] =>
  [create.exec(text)?.[2], alterTable.exec(text)?.[1], write.exec(text)?.[1]].filter((found) => found !== undefined);

/**
 * Reads what a migration does. `created` has the schemas and tables that earlier files of the same release create; those of this
 * file are added to it. Statements inside of function bodies and `do` blocks are not read.
 */
export function readMigrationStep(sql: string, created: NewObjects = new Set()): MigrationStep {
  const statements = readStatements(sql);
  const stoppedIn = contractLine.exec(sql)?.[1] ?? null;
  const isNew = (object: string) => created.has(object) || created.has(object.split('.')[0]!);
  const faults: string[] = [];
  const scans = new Set<string>();
  for (const statement of statements) {
    const [, schema] = createSchema.exec(statement.text) ?? [];
    if (schema) created.add(schema);
    const [, kind, object] = create.exec(statement.text) ?? [];
    if (object && kind !== 'function' && !/^create or replace/.test(statement.text)) created.add(object);
    const effect = effectOf(statement, isNew);
    for (const table of effect.scans) scans.add(table);
    if (stoppedIn) continue;
    faults.push(...effect.breaks);
    if (!statement.comments.some((comment) => compatible.test(comment))) faults.push(...effect.refuses);
  }
  return {
    kind: stoppedIn || faults.length > 0 ? 'contract' : 'expand',
    ...{ stoppedIn, faults, scans: [...scans] },
    objects: [...new Set(statements.flatMap(objectsIn))],
  };
}
