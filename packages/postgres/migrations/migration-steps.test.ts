import { describe, expect, test } from 'vitest';
import { readMigrationStep } from './migration-steps.ts';
import { readStatements } from './read-statements.ts';

test('statements are split outside of strings, names, comments and function bodies', () => {
  const sql = `
    -- first; not a statement
    insert into shop.a values ('it''s; one', 1); /* ; */
    create function shop.f() returns trigger language plpgsql as $$ begin drop table shop.a; return new; end $$;
    alter table shop."Odd; name" -- compatible: why
      add column n int`;
  expect(readStatements(sql)).toEqual([
    { text: "insert into shop.a values ('', 1)", comments: ['first; not a statement'] },
    { text: 'create function shop.f() returns trigger language plpgsql as $$', comments: [] },
    { text: 'alter table shop."Odd; name" add column n int', comments: ['compatible: why'] },
  ]);
});

describe('processes of the release before keep running', () => {
  test.each([
    ['drop table shop.a;'],
    ['drop view if exists shop.v;'],
    ['drop function shop.f(int);'],
    ['drop schema shop cascade;'],
    ['alter table shop.a drop column n;'],
    ['alter table shop.a add column m int, drop n;'],
    ['alter table if exists only shop.a rename column n to m;'],
    ['alter table shop.a rename to b;'],
    ['alter table shop.a set schema other;'],
    ['ALTER TABLE shop.a ALTER COLUMN n TYPE bigint USING n::bigint;'],
    ['alter table shop.a alter n set data type numeric(10, 2);'],
    ['alter table shop.a alter column n set not null;'],
    ['alter table shop.a alter column n drop default;'],
    ['alter table shop.a add column m int not null;'],
    ['alter table shop.a add column m int not null check (m > 0), add column k int;'],
    ['alter table shop.a add constraint a_n check (n > 0);'],
    ['alter table shop.a add foreign key (n) references shop.b (id);'],
    ['create unique index on shop.a (n);'],
    ['truncate shop.a;'],
    ['revoke select on shop.a from shop;'],
    ['drop trigger t on shop.a;'],
    ['alter view shop.v rename to w;'],
  ])('%s is a fault unless it is marked', (sql) => {
    const { kind, faults } = readMigrationStep(sql);
    expect(faults).toHaveLength(1);
    expect(kind).toBe('contract');
    const marked = readMigrationStep(`-- contract: 0.1.0 stopped using it\n${sql}`);
    expect(marked).toMatchObject({ kind: 'contract', stoppedIn: '0.1.0', faults: [] });
  });

  test.each([
    ['create table shop.b (id bigint primary key, n int not null check (n > 0));'],
    ['alter table shop.a add column m int;'],
    ['alter table shop.a add column m int not null default 0;'],
    ['alter table shop.a add column m bigint not null generated always as (n * 2) stored;'],
    ['alter table shop.a drop constraint a_n;'],
    ['alter table shop.a alter column n drop not null;'],
    ['alter table shop.a alter column n set default 1;'],
    ['create index on shop.a (n);'],
    ['drop index shop.a_n;'],
    ['create view shop.v as select n from shop.a;'],
    ["update shop.a set n = 0 where title = 'drop table shop.a;';"],
    [
      'create schema other; create table other.t (n int); alter table other.t drop column n; create unique index on other.t (n);',
    ],
  ])('%s is no fault', (sql) => {
    expect(readMigrationStep(sql)).toMatchObject({ kind: 'expand', faults: [] });
  });

  test('a constraint that the release before satisfies says why, a column that is dropped cannot', () => {
    const constraint =
      'alter table shop.a\n  -- compatible: release 0.1.0 always writes n\n  add check (n is not null);';
    expect(readMigrationStep(constraint)).toMatchObject({ kind: 'expand', faults: [] });
    expect(readMigrationStep('-- compatible: unused\nalter table shop.a drop column n;').faults).toHaveLength(1);
  });

  test('what an earlier file of the same release created may change', () => {
    const created = new Set<string>();
    readMigrationStep('create table shop.b (n int);', created);
    expect(readMigrationStep('alter table shop.b drop column n;', created).faults).toEqual([]);
    expect(readMigrationStep('alter table shop.a drop column n;', created).faults).toHaveLength(1);
  });
});

test('the existing tables whose rows take time are named', () => {
  const scans = (sql: string) => readMigrationStep(sql).scans;
  expect(scans('update shop.a set n = 1; delete from shop.b where n = 2; create index i on shop.c (n);')).toEqual([
    'shop.a',
    'shop.b',
    'shop.c',
  ]);
  expect(scans('create table shop.d (n int); insert into shop.d select n from shop.a join shop.b using (n);')).toEqual([
    'shop.a',
    'shop.b',
  ]);
  expect(scans('alter table shop.a add check (n > 0);')).toEqual(['shop.a']);
  expect(scans('alter table shop.a add constraint c check (n > 0) not valid; create table shop.d (n int);')).toEqual(
    [],
  );
});
