import { audits } from '@tradepost/app';
import type { Sql, Transaction } from '@tradepost/postgres';
import { type AuditResult, auditPassed, runAudits } from '@tradepost/runtime';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { loadTestData } from '@tradepost/testing/test-data';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const testData = await loadTestData();
/** SQL of a shop with rows of every package. All audits pass on it. */
const smallShop = testData.map(({ rows }) => rows ?? '').join('\n');
const auditCases = testData.flatMap((data) => data.auditCases ?? []);

const undone = new Error('the transaction is rolled back');

/**
 * Breaks the data and runs the audits in one transaction, and rolls it back: the next case finds the same shop. `runAudits` begins a
 * transaction of its own, so it gets a savepoint.
 */
async function failedAudits(database: TestDatabase, fault: string): Promise<AuditResult[]> {
  let results: AuditResult[] = [];
  await database.sql
    .begin(async (tx) => {
      await tx.unsafe(fault);
      const begin: unknown = (_mode: string, work: (point: Transaction) => Promise<unknown>) => tx.savepoint(work);
      results = await runAudits({ begin } as Sql, audits);
      throw undone;
    })
    .catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  expect(results.map((result) => result.error)).toEqual(audits.map(() => null));
  return results.filter((result) => !auditPassed(result));
}

describe('a fault in the data is reported by its audit and by no other', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await cloneDatabase();
    await database.sql.unsafe(smallShop);
  });
  afterAll(() => database?.drop());

  test.each(auditCases)('%s: %s', async (audit, _fault, sql, also = []) => {
    const failed = await failedAudits(database, sql);
    expect(failed.map((result) => result.name).sort()).toEqual([audit, ...also].sort());
    for (const { rows, total } of failed) expect(rows).toHaveLength(total);
  });

  test('each audit has at least one case, and names are unique', () => {
    const proven = new Set(auditCases.map(([audit]) => audit));
    expect(audits.map((audit) => audit.name).filter((name) => !proven.has(name))).toEqual([]);
    expect(new Set(audits.map((audit) => audit.name)).size).toBe(audits.length);
  });
});

describe('the command audit', () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  let onDatabase: string[];
  beforeAll(async () => {
    database = await cloneDatabase();
    env = { DATABASE_URL: database.url };
    onDatabase = ['--database-url', database.url];
    await database.sql.unsafe(smallShop);
  });
  afterAll(() => database?.drop());

  test('without faults the exit code is 0, the table is on stdout and progress on stderr of a terminal', async () => {
    const { isTTY } = process.stderr;
    process.stderr.isTTY = true;
    const { code, stdout, stderr } = await runCommandInProcess(['audit'], { env }).finally(() => {
      process.stderr.isTTY = isTTY;
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`clean: ${audits.length} checks`) });
    expect(stdout).toMatch(/^CHECK +ROWS +MS\n/);
    for (const { name } of audits) expect(stdout).toMatch(new RegExp(`^${name} +ok +\\d`, 'm'));
    expect(stderr).toContain(`${audits.length}/${audits.length} `);
  });

  test('with faults the exit code is 1, rows are printed up to the limit and all are counted', async () => {
    await database.sql`update catalog.product_skus set sold = sold + 1`;
    const plain = await runCommandInProcess(['audit', '--limit', '2', ...onDatabase]);
    expect(plain.code).toBe(1);
    expect(plain.stdout).toMatch(/^inventory\.sold +3 /m);
    expect(plain.stdout).toContain('"sku_id":1');
    expect(plain.stdout).toContain('and 1 more');
    const json = await runCommandInProcess(['audit', '--json', '--only', 'inventory', ...onDatabase]);
    expect(json.code).toBe(1);
    const { ok, checks } = JSON.parse(json.stdout);
    expect(ok).toBe(false);
    const totals = checks.map((check: { name: string; total: number }) => [check.name, check.total]);
    expect(totals.slice(0, 3)).toEqual([
      ['inventory.stock_bounds', 0],
      ['inventory.reserved_stock', 0],
      ['inventory.sold', 3],
    ]);
    expect(totals.slice(3).every(([, total]: [string, number]) => total === 0)).toBe(true);
    expect(checks[2].rows).toHaveLength(3);
    expect(await runCommandInProcess(['audit', '--only', 'orders.amounts,identity', ...onDatabase])).toMatchObject({
      code: 0,
    });
  });

  test('an audit that cannot run is reported as failed, and the other audits still run', async () => {
    await database.sql`alter table catalog.favorites rename to favourites`;
    const { code, stdout } = await runCommandInProcess(['audit', '--only', 'catalog', '--json', ...onDatabase]);
    const { checks } = JSON.parse(stdout);
    expect(code).toBe(1);
    expect(checks.length).toBeGreaterThan(1);
    for (const { name, error } of checks)
      expect(error, name).toEqual(name === 'catalog.favorite_counts' ? expect.stringContaining('favorites') : null);
    await database.sql`alter table catalog.favourites rename to favorites`;
  });

  test.each([
    ['--only', 'orders.bogus'],
    ['--limit', '0'],
    ['--limit', 'many'],
  ])('wrong usage ends with exit code 2: %s %s', async (...args) => {
    expect(await runCommandInProcess(['audit', ...args, ...onDatabase])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('error:'),
    });
  });

  test('the audits do not wait for a transaction that holds locks', async () => {
    const results = await database.sql.begin(async (tx) => {
      await tx`update catalog.product_skus set updated_at = now()`;
      return runAudits(database.sql, audits);
    });
    expect(results).toHaveLength(audits.length);
  });
});
