import type { Inventory } from '@tradepost/inventory';
import type { Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { restockExchange, restockReturn } from '../settings.ts';
import { type CaseRequest, type LockedCase, moveCases } from './move-cases.ts';
import { restockedGoods } from './restock-goods.ts';

type Deps = { runtime: Pick<Runtime, 'settings' | 'now'>; inventory: Pick<Inventory, 'restore'> };

/** Records that returned goods have arrived. They go into stock, each piece once, where the setting of the case type says so. */
export async function receiveCases(
  tx: Transaction,
  { runtime, inventory }: Deps,
  requests: readonly CaseRequest[],
): Promise<(LockedCase | Error)[]> {
  const restocks = {
    return: runtime.settings.get(restockReturn),
    exchange: runtime.settings.get(restockExchange),
  };
  return moveCases(tx, requests, {
    move: 'receive',
    now: runtime.now(),
    async prepare(moving) {
      const received = moving.map(({ found }) => found).filter((found) => restocks[found.case_type]);
      const goods = await restockedGoods(tx, received);
      if (goods.length > 0) await Promise.all(await inventory.restore(tx, goods));
      return moving.map(() => true);
    },
  });
}
