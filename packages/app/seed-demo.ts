import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CatalogueFile, catalogueIsEmpty, seedCatalogue } from '@tradepost/catalog';
import { createShopper, createStaff, insertAddress, insertRole } from '@tradepost/identity';
import { sandboxSecret } from '@tradepost/orders';
import type { Sql, Transaction } from '@tradepost/postgres';
import { demoShop, markDemoShop, type Settings } from '@tradepost/runtime';
import { checkout } from './version.ts';

export const fixturesFolder = join(checkout, 'fixtures/demo');

export const demoAccounts = [
  { kind: 'shopper', username: 'demo', password: 'demo123456' },
  { kind: 'shopper', username: 'demo2', password: 'demo123456' },
  { kind: 'administrator', username: 'admin', password: 'admin123' },
] as const;

const homes = [
  { nickname: 'Demo', phone: '13800000001', city: 'Hangzhou', detail: '12 Lakeside Road' },
  { nickname: 'Second Demo', phone: '13800000002', city: 'Ningbo', detail: '3 Harbour Street' },
];

/** Contract: commerce-admin.md 13. */
const demoRoles = [
  { name: 'Customer service', permissions: ['im:view', 'im:reply'] },
  {
    name: 'Operator',
    permissions: ['product:view', 'product:create', 'product:edit', 'order:view', 'marketing:view', 'marketing:edit'],
  },
];

export type Seeded = { products: number; skus: number; accounts: number };

/** Arbitrary: two instances that start together on one empty database must not both fill it. */
const seedLock = 7_205_883_103;

/** Fills an empty database with the demo shop and records that, all or nothing; answers null when there are products already. */
export async function seedDemo(sql: Sql): Promise<Seeded | null> {
  if (!(await catalogueIsEmpty(sql))) return null;
  const file = JSON.parse(await readFile(join(fixturesFolder, 'catalogue.json'), 'utf8')) as CatalogueFile;
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${seedLock})`;
    if (!(await catalogueIsEmpty(tx))) return null;
    await markDemoShop(tx);
    await seedAccounts(tx);
    return { ...(await seedCatalogue(tx, file)), accounts: demoAccounts.length };
  });
}

/** A demo shop can be paid through the sandbox at once: with a key of its own, as a known one would be anybody's. No other shop gets one. */
export async function seedPaymentKey(settings: Settings): Promise<void> {
  if (!settings.get(demoShop)) return;
  const untouched = settings.list().some((row) => row.key === sandboxSecret.key && row.source === 'default');
  if (untouched) await settings.update(sandboxSecret, (before) => before || randomBytes(32).toString('hex'));
}

async function seedAccounts(tx: Transaction): Promise<void> {
  const shoppers = demoAccounts.filter((account) => account.kind === 'shopper');
  for (const [index, { username, password }] of shoppers.entries()) {
    const { nickname, phone, city, detail } = homes[index]!;
    const id = await createShopper(tx, { username, password, nickname, phone, isDemo: true });
    const where = { province: 'Zhejiang', city, district: 'Centre', detail };
    await insertAddress(tx, id, { name: nickname, phone, ...where, is_default: true });
  }
  for (const { username, password } of demoAccounts.filter((account) => account.kind === 'administrator'))
    await createStaff(tx, { username, password, isDemo: true });
  for (const { name, permissions } of demoRoles) await insertRole(tx, name, permissions);
}
