import type { DemoSeed } from '@tradepost/module';
import type { Transaction } from '@tradepost/postgres';
import { insertAddress } from './addresses/address-store.ts';
import { createShopper, createStaff } from './shoppers/accounts.ts';
import { hasDemoStaff, insertRole } from './staff/staff-store.ts';

export const demoAccounts = [
  { kind: 'shopper', username: 'demo', password: 'demo123456' },
  { kind: 'shopper', username: 'demo2', password: 'demo123456' },
  { kind: 'administrator', username: 'admin', password: 'admin123' },
] as const;

const homes = [
  { nickname: 'Demo', phone: '13800000001', city: 'Hangzhou', detail: '12 Lakeside Road' },
  { nickname: 'Second Demo', phone: '13800000002', city: 'Ningbo', detail: '3 Harbour Street' },
];

/** Two roles of the demo shop, as examples. */
const demoRoles = [
  { name: 'Customer service', permissions: ['im:view', 'im:reply'] },
  {
    name: 'Operator',
    permissions: ['product:view', 'product:create', 'product:edit', 'order:view', 'marketing:view', 'marketing:edit'],
  },
];

async function writeAccounts(tx: Transaction): Promise<{ accounts: number }> {
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
  return { accounts: demoAccounts.length };
}

export const identityDemo: DemoSeed = {
  isEmpty: async (sql) => !(await hasDemoStaff(sql)),
  write: writeAccounts,
};
