import { expect, test } from 'vitest';
import type { SqlObject } from './sql-objects.ts';
import { ownershipFaults, tableFaults } from './table-ownership.ts';

test('every table has one owner, and no other package names it in its SQL', async () => {
  expect(await tableFaults()).toEqual([]);
});

const table = (name: string): SqlObject => ({ name, kind: 'table', text: `create table ${name} (id int)` });
const objects = [table('shop.goods'), table('shop.prices'), table('till.sales')];
const packages = [
  { name: 'shop', tables: ['shop.goods', 'shop.prices'] },
  { name: 'till', tables: ['till.sales'] },
];
const faultsOf = (file: string, text: string) => ownershipFaults(packages, objects, [{ file, package: 'till', text }]);

test.each([
  ['a join', 'sql`select * from till.sales s join shop.goods g on g.id = s.id`'],
  [
    'a fragment inside another',
    `sql\`select \${sql\`(select id from shop.goods where id = \${id})\`} from till.sales\``,
  ],
  ['a name in a string', "sql(table('shop.goods'))"],
  ['a write', 'sql`with gone as (delete from shop.goods returning id) select from gone`'],
])('%s of a foreign table is a fault', (_name, text) => {
  expect(faultsOf('packages/till/sales.ts', text)).toEqual(['packages/till/sales.ts: shop.goods belongs to shop']);
});

test.each([
  ['an own table', 'sql`insert into till.sales (id) values (1)`'],
  ['code', 'shop.goods.list(); // see shop.prices'],
  ['a comment', 'sql`select id from till.sales -- never shop.goods\n`'],
  ['a longer name', 'sql`select id from till.shop.goods, workshop.goods, shop.goods_old`'],
])('%s is no fault', (_name, text) => {
  expect(faultsOf('packages/till/sales.ts', text)).toEqual([]);
});

test('an audit reads every table and writes none', () => {
  const file = 'packages/till/till-audits.ts';
  expect(faultsOf(file, 'sql`select from shop.goods g left join till.sales using (id)`')).toEqual([]);
  expect(faultsOf(file, 'sql`update shop.goods set id = 1`')).toEqual([
    `${file}: writes shop.goods, which belongs to shop`,
  ]);
});

test('published views may be used by other packages, and read only tables of their owner', () => {
  const view: SqlObject = {
    name: 'shop.names',
    kind: 'view',
    text: 'create view shop.names as select id from shop.goods',
  };
  const reads: SqlObject = {
    name: 'till.sum',
    kind: 'function',
    text: 'create function till.sum() $$ select from shop.goods $$',
  };
  const source = { file: 'packages/till/a.ts', package: 'till', text: 'sql`select id from shop.names`' };
  const [shop, till] = [packages[0]!, packages[1]!];
  expect(ownershipFaults([{ ...shop, publishes: ['shop.names'] }, till], [...objects, view], [source])).toEqual([]);
  expect(ownershipFaults(packages, [...objects, view, reads], [source])).toEqual([
    'till.sum uses shop.goods, which belongs to shop',
    'packages/till/a.ts: shop.names belongs to shop',
  ]);
});

test('a table without an owner, with two owners, or that does not exist is a fault', () => {
  const twice = [...packages, { name: 'third', tables: ['till.sales', 'third.none'] }];
  expect(ownershipFaults(twice, [...objects, table('third.some')], [])).toEqual([
    'till.sales is declared by till and by third',
    'third declares the table third.none, which no migration creates',
    'no package declares the table third.some',
  ]);
});
