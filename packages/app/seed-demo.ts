import type { DemoCounts, Module } from '@tradepost/module';
import type { Queryable, Sql } from '@tradepost/postgres';
import { markDemoShop, type Runtime } from '@tradepost/runtime';
import { modules, modulesOf } from './modules.ts';
import { fixturesFolder } from './version.ts';

/** An arbitrary number. Two instances that start together on an empty database must not both fill it. */
const seedLock = 7_205_883_103;

const demosOf = (chosen: readonly Module[]) => chosen.flatMap(({ seedDemo }) => seedDemo ?? []);

async function isEmpty(sql: Queryable, chosen: readonly Module[]): Promise<boolean> {
  for (const demo of demosOf(chosen)) if (demo.isEmpty && !(await demo.isEmpty(sql))) return false;
  return true;
}

/**
 * Fills an empty database with the demo data of these modules, in one transaction, and marks it as a demo shop. Returns null
 * when the database is not empty.
 */
export async function seedDemo(sql: Sql, chosen: readonly Module[] = modules): Promise<DemoCounts | null> {
  if (!(await isEmpty(sql, chosen))) return null;
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${seedLock})`;
    if (!(await isEmpty(tx, chosen))) return null;
    await markDemoShop(tx);
    const counts: DemoCounts = { products: 0, skus: 0, accounts: 0 };
    for (const demo of demosOf(chosen)) Object.assign(counts, await demo.write?.(tx, fixturesFolder));
    return counts;
  });
}

/** Runs the work of the modules that follows a committed seed. */
export async function finishDemo(runtime: Runtime): Promise<void> {
  for (const demo of demosOf(modulesOf(runtime.config))) await demo.finish?.(runtime);
}

/** Seeds an empty database at the start of a server. Returns null when the database already had data. */
export async function startDemo(runtime: Runtime): Promise<DemoCounts | null> {
  const chosen = modulesOf(runtime.config);
  const seeded = await seedDemo(runtime.sql, chosen);
  if (seeded) {
    await runtime.settings.reload();
    await finishDemo(runtime);
  }
  for (const demo of demosOf(chosen)) await demo.start?.(runtime);
  return seeded;
}
