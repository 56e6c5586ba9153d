import { demoAccounts, selectShopperByLogin } from '@tradepost/identity';
import type { DemoSeed } from '@tradepost/module';
import type { Transaction } from '@tradepost/postgres';
import { pointsType } from './ledger/points-log.ts';
import { writePoints } from './ledger/write-points.ts';

async function writeReward(tx: Transaction): Promise<Record<string, never>> {
  const shopper = await selectShopperByLogin(tx, demoAccounts[0].username);
  if (!shopper) return {};
  const entry = { user_id: shopper.id, points: 500, type: pointsType.reward, related_id: 0, remark: 'Welcome' };
  await writePoints(tx, [{ ...entry, key: 'demo:welcome' }], shopper.created_at);
  return {};
}

/** 500 points for the first demo shopper. */
export const pointsDemo: DemoSeed = { write: (tx) => writeReward(tx) };
