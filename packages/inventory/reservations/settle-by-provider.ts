import type { Statement, Transaction } from '@tradepost/postgres';
import type { Inventory, InventoryProvider, WriteOrderStatus } from './provider.ts';
import { selectProvidersOf } from './state-store.ts';

type Providers = {
  readonly active: InventoryProvider;
  /** Settles the orders that no remote provider reserved; null when the shop has no such orders. */
  readonly local: InventoryProvider | null;
  /** The remote providers by name. Each settles the orders that it reserved. */
  readonly remote: ReadonlyMap<string, InventoryProvider>;
  readonly writeOrderStatus: WriteOrderStatus;
};

/**
 * Confirm and release through the provider that reserved each order. The provider of an order is read only when the
 * shop has more than one. The caller has already written the status of the active provider (`statusAfter`).
 */
export function settleByProvider({
  active,
  local,
  remote,
  writeOrderStatus,
}: Providers): Pick<Inventory, 'confirm' | 'release'> {
  const all = new Set([active, ...(local ? [local] : []), ...remote.values()]);
  if (all.size === 1)
    return {
      confirm: async (tx, bizNos) => active.confirm(tx, bizNos),
      release: async (tx, bizNos, reason) => active.release(tx, bizNos, reason),
    };
  const remoteNames = [...remote.keys()];
  const settle = async (
    tx: Transaction,
    bizNos: readonly string[],
    phase: 'confirm' | 'release',
    send: (provider: InventoryProvider, bizNos: readonly string[]) => Statement[],
  ) => {
    const nameOf = await selectProvidersOf(tx, bizNos, remoteNames);
    const ordersOf = new Map([...all].map((provider) => [provider, [] as string[]]));
    for (const bizNo of bizNos) {
      const name = nameOf.get(bizNo);
      const provider = name === undefined ? (local ?? active) : remote.get(name)!;
      ordersOf.get(provider)!.push(bizNo);
    }
    return [...ordersOf].flatMap(([provider, orders]): Statement[] => {
      if (orders.length === 0) return [];
      const status = provider.statusAfter[phase];
      if (status === active.statusAfter[phase]) return send(provider, orders);
      const rows = orders.map((order_no) => ({ order_no, status }));
      return [...send(provider, orders), writeOrderStatus(tx, rows)];
    });
  };
  return {
    confirm: (tx, bizNos) => settle(tx, bizNos, 'confirm', (provider, some) => provider.confirm(tx, some)),
    release: (tx, bizNos, reason) =>
      settle(tx, bizNos, 'release', (provider, some) => provider.release(tx, some, reason)),
  };
}
