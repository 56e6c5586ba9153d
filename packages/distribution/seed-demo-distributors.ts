import { demoAccounts, selectShopperByLogin } from '@tradepost/identity';
import type { DemoSeed } from '@tradepost/module';
import type { Transaction } from '@tradepost/postgres';
import { insertBinding, insertDistributor, nextDistributorId } from './distributors/distributor-store.ts';

async function writeDistributor(tx: Transaction): Promise<Record<string, never>> {
  const [first, second] = await Promise.all([
    selectShopperByLogin(tx, demoAccounts[0].username),
    selectShopperByLogin(tx, demoAccounts[1].username),
  ]);
  if (!first || !second) return {};
  const id = await nextDistributorId(tx);
  const person = { real_name: second.nickname, id_card_sealed: null, id_card_end: '', phone: second.phone ?? '' };
  const row = { id, user_id: second.id, parent_id: null, level: 1, status: 'active', ...person } as const;
  if (await insertDistributor(tx, row, second.created_at)) await insertBinding(tx, first.id, id, first.created_at);
  return {};
}

/** The second demo shopper is a distributor, and the first one is a customer of this distributor. */
export const distributionDemo: DemoSeed = { write: writeDistributor };
